#!/usr/bin/env bash
# Works on tasks with a command, from any Linux that has bash, curl (7.76 or newer) and jq: claims a task, renews its lease
# while the command runs, and ends the task with the command's output as its result.
#
#   export GATEKEEPER_URL=https://jobs.example.com/gatekeeper GATEKEEPER_TOKEN=...
#   ./worker.sh thumbnail 30000 ./thumbnail.sh
#
# The second argument is the lease in ms: after a crash another worker gets the task when it is over. The command gets
# the task's data as JSON at standard input, and TASK_ID and TASK_TOKEN, the fencing token, in its environment. It is ended
# (TERM) when the task can't be kept. Status 0 completes the task with standard output, as JSON if it is JSON. Status 65
# says that no attempt can succeed, any other status that this one failed: standard error says why.
# Works until it is ended (TERM); with ONCE=1 on one task.
set -euo pipefail

usage() { echo "usage: $0 <type> <lease in ms> <command...>" >&2 && exit 64; }
[[ $# -ge 3 && $1 =~ ^[A-Za-z0-9._-]+$ && $2 =~ ^[1-9][0-9]*$ ]] || usage
type=$1 lease=$2 step=$(($2 / 6))
shift 2

seconds() { printf '%d.%03d' $(($1 / 1000)) $(($1 % 1000)); }
# ms that nobody can set back, unlike the time of day.
monotonic() { local up && read -r up _ </proc/uptime && echo "${up/./}0"; }
# A file that never has anything to read: waiting for it takes no process that could be left behind.
exec {nothing}<> <(:)
pause() { read -rt "$(seconds "$1")" -u "$nothing" || true; }

# path, ms: sends the body at standard input, prints the answer; 22 when it was refused. The secret is no argument.
call() {
  curl --silent --show-error --fail-with-body --max-time "$(seconds "$2")" \
    --config <(printf 'header = "Authorization: Bearer %s"\n' "$GATEKEEPER_TOKEN") \
    --header 'Content-Type: application/json' --data @- "$GATEKEEPER_URL/api/tasks$1"
}

# pid, since when the lease counts: ends that command when the task is lost, or before another worker can get it.
keep() {
  local asked since=$2 answer status
  while true; do
    pause "$step"
    # Without the worker nobody would note the end.
    kill -0 $$ 2>/dev/null || { kill -TERM "$1" 2>/dev/null || true; return; }
    asked=$(monotonic) status=0
    answer=$(jq -n --argjson token "$token" --argjson lease "$lease" '$ARGS.named' | call "/$id/renew" "$step" 2>&1) || status=$?
    [ $status -eq 0 ] && since=$((asked + $(jq .remaining <<<"$answer") - lease)) && continue
    if [[ $answer == *'"status":409'* ]] || [ $(($(monotonic) - since)) -ge $((lease / 2)) ]; then
      echo "task $id was lost: $answer" >&2
      trap '' TERM
      kill -TERM "$1" 2>/dev/null || true
      return 70
    fi
  done
}

# The end is noted once, however often it is told.
end() {
  local answer status
  for _ in 1 2 3 4 5; do
    status=0
    answer=$(call "/$id/$1" "$step" <"$folder/end") || status=$?
    [ $status -eq 0 ] && return
    [[ $answer == *'"status":4'* ]] && break
    pause 200
  done
  echo "the end of task $id was not noted: $answer" >&2
}

work() {
  local since=$1 status=0 lost=0
  shift
  jq -c '.tasks[0].data' "$folder/claim" >"$folder/data"
  TASK_ID=$(jq -r '.tasks[0].id' "$folder/claim") TASK_TOKEN=$token "$@" \
    <"$folder/data" >"$folder/out" 2>"$folder/err" &
  command=$!
  keep "$command" "$since" &
  keeper=$!
  while kill -0 "$command" 2>/dev/null; do wait "$command" && status=0 || status=$?; done
  kill -TERM "$keeper" 2>/dev/null || true
  wait "$keeper" 2>/dev/null || lost=$?
  [ "$lost" -eq 70 ] && return
  if [ $status -eq 0 ]; then
    jq -s 'if length == 1 then .[0] else error end' "$folder/out" >"$folder/result" 2>/dev/null || jq -Rs . "$folder/out" >"$folder/result"
    jq -n --argjson token "$token" --slurpfile result "$folder/result" '{token: $token, result: $result[0]}' >"$folder/end"
    end complete
  else
    jq -Rs --argjson token "$token" --argjson status "$status" \
      '{token: $token, name: "ExitStatus\($status)", message: .[0:2000], retryable: ($status != 65)}' "$folder/err" >"$folder/end"
    end fail
  fi
}

folder=$(mktemp -d)
command='' isEnding=''
trap 'rm -rf "$folder"' EXIT
trap 'isEnding=1' TERM INT

while [ -z "$isEnding" ]; do
  asked=$(monotonic)
  if ! jq -n --arg type "$type" --argjson lease "$lease" '{types: [$type], lease: $lease, wait: "20s"}' |
    call /claim 30000 >"$folder/claim"; then
    # A token that may not work is no reason to try for ever.
    grep -qE '"status":(400|401|403|404)' "$folder/claim" && cat "$folder/claim" >&2 && exit 77
    pause 1000
    continue
  fi
  id=$(jq -r '.tasks[0].id // empty | @uri' "$folder/claim") token=$(jq '.tasks[0].token' "$folder/claim")
  # The lease counts from when the task was asked for: the answer may have lain around.
  since=$((asked + $(jq '.tasks[0].remaining // 0' "$folder/claim") - lease))
  # Half of the lease is the last moment to begin: then another worker gets the task.
  [ -z "$id" ] || [ $(($(monotonic) - since)) -ge $((lease / 2)) ] || work "$since" "$@"
  [ -z "${ONCE:-}" ] || [ -z "$id" ] || break
done
