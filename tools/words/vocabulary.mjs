/**
 * Words that this project no longer uses, and the words that stand in their place. Each pattern is held against whole
 * identifiers of the code.
 */
export const OLD_WORDS = [
  { word: 'Reclaims', now: 'OrphanCleanup', pattern: /reclaims/i },
  { word: 'Roster', now: 'NodeRegistry', pattern: /roster/i },
  { word: 'NodeCard', now: 'NodeInfo', pattern: /nodeCard/i },
  { word: 'Sightings', now: 'LeaseObservations', pattern: /sightings/i },
  { word: 'LeaseJudge', now: 'LeaseExpiry', pattern: /leaseJudge/i },
  { word: 'RunLog', now: 'RunHistory', pattern: /runLog/i },
  { word: 'isDead', now: 'isExpired', pattern: /^isDead$/ },
  { word: 'untilDead', now: 'timeUntilExpiry', pattern: /untilDead/i },
  { word: 'Proxied', now: 'External', pattern: /proxied/i },
  { word: 'RecordKeeper', now: 'RecordClient', pattern: /recordKeeper/i },
  { word: 'hear', now: 'observe', pattern: /^hear$/ },
  { word: 'glimpse', now: 'peek', pattern: /^glimpse/ },
  { word: 'doubt', now: 'markUncertain', pattern: /^doubt(ful)?$/ },
  { word: 'retire', now: 'holdUntilExpiry, endUse', pattern: /^retire$/ },
  { word: 'abandon', now: 'endUse', pattern: /^abandon$/ },
  { word: 'Holdings', now: 'HeldLeases', pattern: /holdings/i },
  { word: 'WaitingLine', now: 'WaitQueue', pattern: /waitingLine/i },
  { word: 'maxHold', now: 'maxRunTime', pattern: /^maxHold$/ },
  { word: 'Alarm', now: 'a timer', pattern: /^alarms?$/i },
  { word: 'Doorbell', now: 'Wakeup', pattern: /doorbell/i },
  { word: 'Turns', now: 'KeyedMutex', pattern: /^Turns$/ },
  { word: 'abreast', now: 'forEachLimit', pattern: /abreast/i },
  { word: 'quiet', now: 'notify', pattern: /^quiet$/ },
  { word: 'news', now: 'changes', pattern: /^news$/ },
  { word: 'Surroundings', now: 'Environment', pattern: /surroundings/i },
  { word: 'Grounds', now: 'ChangeMeta', pattern: /^grounds$/i },
  { word: 'Standing', now: 'StoreHealth', pattern: /^standing$/i },
  { word: 'Astray', now: 'InvalidPath', pattern: /astray/i },
  { word: 'Departure', now: 'ClientAbort', pattern: /departure/i },
  { word: 'spoken', now: 'format', pattern: /^spoken/ },
  { word: 'Sender', now: 'HttpTransport', pattern: /^sender$/i },
  { word: 'Portion', now: 'batches', pattern: /^portions?$/i },
  { word: 'CodeDefinitions', now: 'DeclaredDefinitions', pattern: /codeDefinitions/i },
  { word: 'isExpected', now: 'has', pattern: /^isExpected$/ },
];

/** Stilted words and openings: shown per folder, and held against a budget that may only go down. */
export const STILTED = [
  { word: 'whoever', pattern: /\bwhoever\b/gi },
  { word: 'nobody', pattern: /\bnobody\b/gi },
  { word: 'somebody', pattern: /\bsomebody\b/gi },
  { word: 'anybody', pattern: /\banybody\b/gi },
  { word: 'is told', pattern: /\b(?:is|are|was|were|be|been) told\b/gi },
  { word: 'to be had', pattern: /\bto be had\b/gi },
  { word: 'What …', pattern: /(?:\/\*\*|\/\/)\s*(?:\*\s*)?(?:What|Whatever)\b/g },
  { word: 'Who …', pattern: /(?:\/\*\*|\/\/)\s*(?:\*\s*)?(?:Who|Whose)\b/g },
  { word: 'Whether it …', pattern: /(?:\/\*\*|\/\/)\s*(?:\*\s*)?Whether it\b/g },
];

/** Lower it to the count that `npm run words` shows; never raise it. */
export const BUDGET = 0;
