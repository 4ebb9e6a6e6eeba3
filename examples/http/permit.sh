#!/usr/bin/env bash
# Runs a command under a permit, from any Linux that has bash and curl (7.76 or newer): takes it, keeps it while the
# command runs, gives it back.
#
#   export GATEKEEPER_URL=https://jobs.example.com/gatekeeper GATEKEEPER_TOKEN=...
#   ./permit.sh nightly-export 60000 ./export.sh --all
#
# The second argument is how long the permit lasts unless it is refreshed, in ms. The command finds PERMIT_TOKEN, the
# fencing token, and PERMIT_SLOT in its environment, and is ended (TERM) when the permit can't be kept.
# Ends with the command's status; with 75 when there is no permit now; with 70 when it was lost.
set -euo pipefail

usage() { echo "usage: $0 <semaphore: letters, digits, . _ : -> <duration in ms> <command...>" >&2 && exit 64; }
[[ $# -ge 3 && $1 =~ ^[A-Za-z0-9._:-]+$ && $2 =~ ^[1-9][0-9]*$ ]] || usage
semaphore=$1 duration=$2 step=$(($2 / 6))
shift 2
# Tells this run from all others: who asks again in its name gets the same permit.
holder="$(hostname)-$$-$RANDOM$RANDOM"

seconds() { printf '%d.%03d' $(($1 / 1000)) $(($1 % 1000)); }
# ms that nobody can set back, unlike the time of day.
monotonic() { local up && read -r up _ </proc/uptime && echo "${up/./}0"; }
# A file that never has anything to read: waiting for it takes no process that could be left behind.
exec {nothing}<> <(:)
pause() { read -rt "$(seconds "$1")" -u "$nothing" || true; }

# path, body, ms: prints the answer; 22 when it was refused. The secret is no argument: those everybody on the host sees.
call() {
  curl --silent --show-error --fail-with-body --max-time "$(seconds "$3")" \
    --config <(printf 'header = "Authorization: Bearer %s"\n' "$GATEKEEPER_TOKEN") \
    --header 'Content-Type: application/json' --data "$2" "$GATEKEEPER_URL/api/permits$1"
}
# name: of the flat JSON at standard input.
field() { sed -E "s/.*\"$1\":\"?([^,\"}]*).*/\1/"; }

# Prints when the permit was asked for, and the answer. The permit counts from then: the answer may have lain around.
acquire() {
  local body="{\"semaphore\":\"$semaphore\",\"holder\":\"$holder\",\"duration\":$duration}" status asked answer
  for _ in 1 2 3; do
    asked=$(monotonic) status=0
    answer=$(call '' "$body" 10000) || status=$?
    # Half of the duration is the last moment to begin: an answer that is older is asked for again.
    [ $status -eq 0 ] && [ $(($(monotonic) - asked)) -lt $((duration / 2)) ] && echo "$asked $answer" && return
    # Refused: that is an answer. Anything else may have been granted, and is asked for again.
    [ $status -eq 22 ] && echo "$answer" && return $status
    pause 200
  done
  echo "$answer"
  return 1
}

# pid, since when the permit counts: ends that command before the permit can go to another holder, when refreshing fails.
keep() {
  local asked since=$2 answer status
  while true; do
    pause "$step"
    asked=$(monotonic) status=0
    # What curl complains of is told only when it comes to that: the next refresh may make up for it.
    answer=$(call "/$id/refresh" "{\"semaphore\":\"$semaphore\",\"token\":$token,\"duration\":$duration}" "$step" 2>&1) || status=$?
    [ $status -eq 0 ] && since=$asked && continue
    # A pause and a call each take a sixth: half of the duration is the last moment to give up.
    if [[ $answer == *permit-lost* ]] || [ $(($(monotonic) - since)) -ge $((duration / 2)) ]; then
      echo "the permit of $semaphore was lost: $answer" >&2
      # Whoever waits for the command ends this, too, once that is gone: not before it has told of the loss.
      trap '' TERM
      kill -TERM "$1" 2>/dev/null || true
      return 70
    fi
  done
}

permit=$(acquire) || { echo "no permit of $semaphore: $permit" >&2 && exit 75; }
since=${permit%% *} permit=${permit#* }
id=$(field id <<<"$permit") token=$(field token <<<"$permit")

PERMIT_TOKEN=$token PERMIT_SLOT=$(field slot <<<"$permit") "$@" &
command=$!
keep "$command" "$since" &
keeper=$!
trap 'kill -TERM "$command" 2>/dev/null || true' TERM INT

status=0
while kill -0 "$command" 2>/dev/null; do wait "$command" && status=0 || status=$?; done
kill -TERM "$keeper" 2>/dev/null || true
lost=0
wait "$keeper" || lost=$?
[ "$lost" -eq 70 ] && exit 70
call "/$id/release" "{\"semaphore\":\"$semaphore\"}" 10000 >/dev/null || echo "not released: it expires by itself" >&2
exit "$status"
