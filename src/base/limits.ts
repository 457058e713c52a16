/**
 * Every bound of Perdure in one place: the unit is in the name or the comment, the reason beside it.
 * Those that callers meet are tested at the limit and one past it.
 */
export const LIMITS = {
  /** bytes; a request body. One actor row must stay well below the platform's 2 MB per row. */
  bodyBytes: 1_048_576,
  /** levels of arrays and objects in a body; deeper data exhausts stacks of the readers behind us. */
  jsonDepth: 64,
  /** bytes of canonical JSON; an actor's context, so that the snapshot row stays below 2 MB. */
  contextBytes: 1_000_000,
  /** bytes of JSON; a finished machine's output, and what a worker makes of a task: both go into a record. */
  outputBytes: 250_000,
  /** bytes of JSON; all that one step emits and logs, kept in its record. */
  emittedBytes: 500_000,
  /** bytes of JSON; all timers of one actor, armed and parked: with the context they share a row. */
  timerBytes: 500_000,
  /** bytes of JSON; where a machine stands and what its history states remember, by paths: they share that row too. */
  positionBytes: 100_000,
  /** bytes of JSON; one record, which is a row. Numbers such as 1e20 take more room there than in the body they came in. */
  recordBytes: 1_900_000,
  /** characters; event types are folded into fingerprints and shown in lists. */
  eventTypeChars: 200,
  /** records of one actor; the key index of a fuller actor would outgrow its rows. */
  recordsPerActor: 1_000_000,
  /** timers of one actor, armed and parked; they live inside the snapshot row. */
  timersPerActor: 1_000,
  /**
   * bytes of JSON; an actor's whole snapshot after a step. Its row has as much room beside it as there may be to do outside,
   * and as what comes without a step can add: results of children, errors, messages without a taker.
   */
  snapshotBytes: 1_190_000,
  /** activities of one actor, running and failed ones; they live inside the snapshot row. */
  activitiesPerActor: 100,
  /** bytes of JSON; one activity's input, and that of what undoes it. */
  activityInputBytes: 100_000,
  /** bytes of JSON; all activities of one actor, and what undoes those that are done: with the context they share a row. */
  activitiesBytes: 250_000,
  /** bytes of JSON; inputs of activities and messages that one step asks for: until they are carried out they share that row too. */
  askedBytes: 250_000,
  /** bytes of JSON; one message to another actor. */
  messageBytes: 100_000,
  /** messages that one step sends to other actors. */
  messagesPerStep: 100,
  /** children of one activity; each has a place in its parent's row. */
  childrenPerActivity: 500,
  /** parents above an actor; a definition that spawns itself as it begins would go on for ever. */
  childDepth: 32,
  /** attempts of one activity; beyond, a service is down and somebody should look. */
  activityAttempts: 100,
  /** ms; the longest that one attempt of a call may take: an object is awake, and paid for, all the while. */
  activityAttemptMs: 60_000,
  /** times by which a pause grows from one attempt to the next. */
  retryFactor: 100,
  /** entries of one list in an activity's input: codes that end it, reminders, escalations. */
  activityListEntries: 100,
  /** ms between two reminders at least, and reminders of one approval: each is a record and a webhook message. */
  reminderLeastMs: 60_000,
  remindersPerApproval: 100,
  /** bytes of an answer's body; it becomes part of a record and of an event. */
  httpResponseBytes: 250_000,
  /** bytes of JSON; an answer, which may be longer so than it came (control characters): it must fit among the timers if it is parked. */
  httpOutputBytes: 450_000,
  /** bytes of the body of an answer that says no: it stays with the error in the actor's row, so a longer one is cut. */
  httpErrorBytes: 4_096,
  /** redirects that one call follows. */
  httpRedirects: 5,
  /** headers of one call. */
  httpHeaders: 100,
  /** characters; a queue's name. */
  queueNameChars: 64,
  /** ms; the shortest and the longest lease of a task: a lost worker is noticed, and a night's work can be done. */
  leaseLeastMs: 1_000,
  leaseMostMs: 43_200_000,
  /** completed activities of one actor that a compensation would undo. */
  undosPerActor: 1_000,
  /** children of one activity that its actor shows by name; the others are counted. */
  childrenShown: 100,
  /** messages without a taker that an actor still shows, and bytes of JSON of all of them but the last; the log has them all. */
  undeliverableKept: 100,
  undeliverableBytes: 100_000,
  /** activities that ended and are still shown in their actor. */
  endedActivities: 10,
  /** errors of an activity's attempts that are kept, the last ones. */
  attemptErrors: 10,
  /** calls of one actor's activities under way at once: the platform holds no more connections open in one invocation. */
  callsInFlight: 6,
  /** effects on other objects that one actor has under way at once. */
  effectsInFlight: 32,
  /** bytes of JSON; what an actor has still to do outside, and results that wait: they share its row. */
  outboxBytes: 300_000,
  /** ms after which an alarm looks whether what a commit asked for is done: before an idle object is taken from memory, after 10 s. */
  outboxWatchMs: 5_000,
  /** ms that an alarm stays for what is under way, longer than any attempt takes. */
  alarmStayMs: 90_000,
  /** ms an actor waits for the answer of another; one that hangs must not hold a message or a child for ever. */
  actorCallMs: 30_000,
  /** children of one activity that are spawned, or ended, at once. */
  childCallsAtOnce: 32,
  /** messages of one actor on their way; beyond, a receiver that does not take them gets no more time, as they share the actor's row. */
  messagesWaiting: 1_000,
  /** attempts of one message to another actor: with those pauses, seven days of them. */
  messageAttempts: 2_024,
  /** ms before an effect on another object is tried again: the first pause, which doubles, and the longest. */
  effectRetryMs: 1_000,
  effectRetryMostMs: 300_000,
  /** ms; the longest delay, 100 years: due times stay exact integers and valid dates. */
  delayMs: 3_155_760_000_000,
  /** timers fired in one transaction; what remains is fired by the alarm that follows at once. */
  timersPerTransaction: 100,
  /** timers that one clock advance may fire; a loop of short timers would run for minutes. */
  timersPerAdvance: 1_000,
  /** ms that one actor's development clock may be moved in all, 7,000 years: dates stay ones of four-digit years. */
  clockMs: 220_903_200_000_000,
  /** microsteps in one step; a machine that needs more loops. Forced on every machine. */
  microsteps: 1_000,
  /** entries kept of each list of decisions in a record. */
  decisionsPerRecord: 100,
  /** events in one batch: one transaction. */
  eventsPerBatch: 100,
  /** references of one actor, and characters of a name and of a value. */
  refsPerActor: 50,
  refNameChars: 100,
  refValueChars: 255,
  /** references in one filter; each asks a shard of its own. */
  refsPerFilter: 5,
  /** actors in one bulk spawn, and spawns of it that run at once: one request stays one request's worth of work. */
  actorsPerBulkSpawn: 500,
  bulkSpawnsAtOnce: 32,
  /** groups of one count, and series of one metric; the rest is summed up. */
  groupsPerAnswer: 1_000,
  /** ids shown where a reference is ambiguous. */
  ambiguousShown: 5,
  /** characters; `by`, a reason, a label. */
  textChars: 500,
  /** items of a page: the default and the most. */
  pageDefault: 50,
  pageMost: 200,
  /** bytes of JSON in one page of records, so that a page fits a remote call (32 MiB) many times over. */
  pageBytes: 4_194_304,
  /** ms; the longest that `wait` holds a request open, below common proxies' minute. */
  waitMs: 55_000,
  /** clients waiting on one actor at once. */
  waitersPerActor: 1_000,
  /** streams of one actor; each record is sent to each of them. */
  streamsPerActor: 1_000,
  /** ms after which a stream ends, so that revoked keys end; its client connects again where it was. */
  streamMs: 3_600_000,
  /** ms between two signs of life on an event stream; proxies take silence for an end, many after 30 s. */
  streamHeartbeatMs: 15_000,
  /** characters sent to a reader and not yet read; the rest waits in the log, so slow readers cost no memory. */
  streamWindow: 262_144,
  /** characters that one WebSocket carries in all: nobody sees how many of them are unread, and they are held in memory. */
  streamChars: 4_194_304,
  /** ms that a stream token opens streams: it stands in an address, which gets logged on the way. */
  streamTokenMs: 60_000,
  /** characters; an idempotency key. */
  idempotencyKeyChars: 255,
  /** ms a collection's idempotency key is kept: 30 days. */
  collectionKeyMs: 2_592_000_000,
  /** ms a deleted actor's spawn keys are remembered: 30 days. */
  tombstoneMs: 2_592_000_000,
  /** bytes of canonical JSON; one definition. */
  definitionBytes: 500_000,
  /** states of one definition, and levels of nesting. */
  statesPerDefinition: 2_000,
  stateDepth: 32,
  /** characters; a state's key. Paths of states are joined from keys and stand in every snapshot and record. */
  stateKeyChars: 100,
  /** characters; a state's own id, and the name of a delay, an action, a guard or a sent event. */
  nameChars: 200,
  /** states without children that are active at once; XState compares their transitions pair by pair. */
  activeLeaves: 50,
  /** definitions of one tenant. */
  definitionsPerTenant: 10_000,
  /** problems listed in one answer; the rest is counted. */
  problemsPerAnswer: 100,
  /** scenarios in one call, and events in one scenario. */
  scenariosPerCall: 50,
  eventsPerScenario: 200,
  /** characters; one expression. */
  expressionChars: 4_096,
  /** levels of operators, calls and brackets in an expression; evaluation recurses as deep. */
  expressionDepth: 200,
  /** nested macros (map, filter, all, exists): each level multiplies the work. */
  expressionMacroDepth: 2,
  /**
   * steps of one evaluation: iterations, operators, and sizes of what they touch. The slowest
   * steps known take 1 µs, so no expression holds a thread longer than a quarter of a second.
   */
  expressionBudget: 250_000,
  /**
   * steps of one input's whole work: those of all its expressions, and what XState does around them at a rate that
   * makes a step as long. So no event holds a thread longer than about a second.
   */
  stepBudget: 1_000_000,
  /** the same for all the plays of one call of `scenario`. */
  scenarioBudget: 5_000_000,
  /** API keys of one tenant. */
  keysPerTenant: 1_000,
  /** ms a checked API key is trusted without asking the registry again. */
  keyCacheMs: 30_000,
  /** checked keys, and known tenants, that an isolate remembers. */
  keysCached: 10_000,
  /** compiled machines of an isolate: how many, and bytes of their JSON. An isolate has 128 MB. */
  machinesCached: 200,
  machineBytesCached: 4_000_000,
  /** used definitions whose content an isolate knows without asking the registry. */
  definitionIdsCached: 10_000,
  /** attempts of a call to an object, and ms before the second and third; more would hide an outage. */
  callAttempts: 3,
  callBackoffMs: [50, 250],
  /** shards of a tenant's directory unless configured, and the most; a shard takes some hundred changes a second. */
  directoryShards: 16,
  directoryShardsMost: 256,
  /** steps of an actor's history whose codes stand in its entry, so that migrations decide without waking it. */
  historySteps: 32,
  /** ms that an actor gathers changes at least before it tells the directory the last of them, which has to know within a second. */
  gatherMs: 100,
  /** ms between the moments at which all actors tell it, so that the puts of one moment share a shard's transaction. */
  beatMs: 300,
  /** names in one migration's path, excluded ones too: its automaton lives in the C module's fixed memory. */
  pathNames: 64,
  /** migration rules of one tenant that are not retired, which every isolate reads, and of those from one definition: each is decided at every event. */
  rulesPerTenant: 1_000,
  rulesPerDefinition: 50,
  /** migration rules of one tenant, retired ones included: as many as definitions. An actor has at most one mark of each. */
  rulesEver: 10_000,
  /** tenants whose rules an isolate knows, and characters of their JSON; a set that is longer counts as that much. */
  ruleSetsCached: 10_000,
  ruleSetCharsCached: 8_000_000,
  /** bytes of canonical JSON; state and context mapping of one rule, which stand in the record of every move. */
  mappingBytes: 20_000,
  /** characters of the canonical JSON of all rules of a tenant that are not retired: every isolate with one of its actors holds them. */
  rulesChars: 4_000_000,
  /** times that a rule's percentage grows: each step is told to every isolate. */
  rampSteps: 100,
  /** versions of a family that are looked at for the names of its steps, and of how many an isolate remembers them. */
  alphabetVersions: 200,
  alphabetsCached: 2_000,
  /** ms that a plan can be confirmed: 10 minutes. */
  confirmTokenMs: 600_000,
  /** actors named as samples of each group of a plan, and logs replayed for one preview. */
  planSamples: 5,
  planReplays: 20,
  /** state values listed in one plan; the rest is summed up. */
  planStates: 500,
  /** ms that pollers of a rule share one count, which asks every shard, and rules that an isolate remembers counts of. */
  ruleCountsMs: 1_000,
  rulesCounted: 1_000,
  /** actors that one sweep asks at once, entries of one call to a shard for it, and ms it waits for one actor. */
  sweepConcurrency: 32,
  sweepPage: 1_000,
  sweepCallMs: 30_000,
  /** times an actor out of reach is tried in one sweep. */
  sweepAttempts: 5,
  /** actors that a sweep lists because they could not be asked; the rest is counted. */
  sweepFailuresKept: 10_000,
  /** ms after a change at which an alarm makes sure that the directory knows it; one per minute of activity. */
  settleMs: 60_000,
  /** ms after which a repeat that was answered is counted in storage: before an idle object is taken from memory, after 10 s. */
  repeatsKeptMs: 5_000,
  /** ms after which an alarm goes on with a deletion that nobody ended. */
  erasureMs: 5_000,
  /** ms after which an alarm tries again what it could not do: the first pause, which grows, and the longest. */
  alarmRetryMs: 1_000,
  alarmRetryMostMs: 60_000,
  /** ms an actor waits for its directory shard to answer; a shard that hangs must hold neither an alarm nor a spawn. */
  directoryCallMs: 10_000,
  /** ms after its due time at which a timer is overdue: the platform may be a minute late by itself. */
  overdueMs: 60_000,
  /** soonest due times a directory shard holds in memory; when they are used up it reads its index again. */
  horizon: 1_000,
  /** classes at which a directory shard forgets those that no actor is in. */
  classesSwept: 1_000,
  /** changes that share one transaction of a directory shard: its turn stays short. */
  changesPerCommit: 500,
  /** ms after which a change of references that could not be told is tried again; doubled by failures, up to the most. */
  owedMs: 5_000,
  owedMostMs: 60_000,
  /** changes of references in one call to their shard. */
  refChangesPerCall: 500,
  /** overdue actors that one alarm of a shard wakes, how many at once, and ms it waits for one. */
  rousedPerAlarm: 200,
  rousedAtOnce: 16,
  rouseMs: 30_000,
  /** ms between attempts to wake an overdue actor: the first pause, doubled each time, and the longest. */
  rousePauseMs: 60_000,
  rousePauseMostMs: 3_600_000,
  /** tombstones that one alarm forgets. */
  tombstonesPerAlarm: 1_000,
  /** ms a lost reference is remembered, so that late news of it does no harm. */
  lostRefMs: 86_400_000,
  /** lost references that one alarm forgets. */
  lostRefsPerAlarm: 1_000,
  /** entries of one call to a shard: ids that are selected or picked. */
  entriesPerCall: 2_000,
  /** entries that a shard decides a rule for in one turn: some ms, after which others have theirs. */
  entriesDecided: 4_096,
  /** entries that a selection has ready of each shard. */
  entriesAhead: 500,
  /** ms an isolate trusts what it knows of a tenant's webhooks and used definitions. */
  leaseMs: 10_000,
  /** the same in the development profile, where people wait for it. */
  leaseDevelopmentMs: 1_000,
  /** schedules of one tenant, which share an object and its alarm. */
  schedulesPerTenant: 1_000,
  /** characters; a schedule's id, which is part of the ids of the actors that it spawns. */
  scheduleIdChars: 120,
  /** bytes of JSON; what a schedule spawns or sends: a page of schedules must fit a remote call. */
  scheduleBytes: 65_536,
  /** characters; a cron pattern, and a time zone's name. */
  cronChars: 200,
  /** ms between two slots of a schedule at least: each run is some rows in two objects. */
  cronIntervalMs: 5_000,
  /** years that a pattern's next slot is searched; 29 February comes on a given weekday within 40, and each year costs processor time. */
  cronHorizonYears: 40,
  /** ms; a slot that could not be begun for longer was missed. */
  cronGraceMs: 60_000,
  /** missed slots that are counted one by one; more are "as many or more". */
  slotsCounted: 1_000,
  /** runs kept of one schedule. */
  runsPerSchedule: 200,
  /** runs of one tenant under way at once, so that a thousand schedules that are due together take turns. */
  runsAtOnce: 20,
  /** attempts of one run: half a minute of failures; the pauses double up to the most. */
  runAttempts: 6,
  runBackoffMs: 1_000,
  /** ms that one attempt may take, so that an actor that hangs holds one place for no longer. */
  runAttemptMs: 30_000,
  /** ms that an alarm stays for runs under way; those that take longer go on without it. */
  cronAlarmMs: 2_000,
  /** ms after which an alarm looks for runs that were begun and lost. */
  cronLostMs: 60_000,
  /** ms between two looks of the registry at schedules and webhooks whose alarm may be lost. */
  watchMs: 3_600_000,
  /** actors in one bulk operation; their list is written down while the caller waits. */
  bulkItems: 1_000_000,
  /** actors that one bulk operation acts on at once; other callers want their turn. */
  bulkConcurrency: 16,
  /** actors that one alarm of a bulk operation acts on: an invocation may make some thousand calls. */
  bulkItemsPerAlarm: 1_000,
  /** times an actor out of reach is tried in a bulk operation, with 1, 2, 4 … s between: two minutes in all. */
  bulkAttempts: 8,
  /** ms a bulk operation waits for one actor's answer; one that never comes would hold its place for ever. */
  bulkCallMs: 120_000,
  /** ms after which a bulk operation that was never accepted, since a crash cut its selection off, is erased. */
  bulkSelectionMs: 600_000,
  /** ms a bulk operation can be read after its end: 30 days. */
  bulkKeptMs: 2_592_000_000,
  /** characters; an address that webhooks are sent to. */
  urlChars: 2_048,
  /** webhooks of one tenant: each makes every event that it wants one request dearer. */
  webhooksPerTenant: 50,
  /** tenants whose webhooks, and whose numbers of shards, an isolate remembers. */
  subscriptionsCached: 10_000,
  shardCountsCached: 10_000,
  /** bytes of JSON; the data of one notice. Standard Webhooks recommends messages below 20 kB. */
  noticeBytes: 16_384,
  /** notices in one call to a webhook's object, and records read at once to make them. */
  noticesPerCall: 100,
  /** deliveries of one webhook that wait; beyond, the oldest fails: a receiver that is gone must not fill a disk. */
  deliveriesPending: 5_000,
  /** deliveries of one webhook that are kept after their end, and ms (30 days) that any is kept. */
  deliveriesKept: 5_000,
  deliveryMs: 2_592_000_000,
  /** deliveries of a deleted actor that a webhook's object looks at in one call: others wait for it meanwhile. */
  deliveriesForgotten: 200,
  /** attempts of one delivery that are shown, the last ones. */
  attemptsShown: 20,
  /** attempts of one webhook at once: a slow receiver gets no more connections than that. */
  attemptsInFlight: 5,
  /** ms; one attempt, within the 15 to 30 s that Standard Webhooks recommends. */
  attemptMs: 15_000,
  /** ms between attempts (5 s, 5 min, 30 min, 2, 5, 10, 14, 20, 24 h): the schedule of Standard Webhooks. */
  attemptDelaysMs: [
    5_000, 300_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000, 50_400_000, 72_000_000,
    86_400_000,
  ],
  /** ms; the longest that a receiver's Retry-After puts an attempt off. */
  retryAfterMs: 86_400_000,
  /** queues of one tenant: a list of all its tasks asks each of them. */
  queuesPerTenant: 200,
  /** tasks of one queue that have not ended; what comes beyond waits in its actor. */
  tasksPerQueue: 100_000,
  /** ms that a task can be read after its end: 7 days. */
  taskKeptMs: 604_800_000,
  /** tasks of one claim, and callers that wait for some of one queue at once. */
  tasksPerClaim: 100,
  claimersPerQueue: 1_000,
  /** ms in which who waits for tasks has to show that he is still there; one that hangs holds up those behind him. */
  presentMs: 2_000,
  /** callers who are asked at once whether they are still there: a call to each. */
  presentAtOnce: 32,
  /** ms that a caller may hang up unnoticed once something was sent to it: a round trip within a machine or to an edge nearby. */
  hangUpMs: 20,
  /** ms after which an answer begins before it is complete; what is refused is refused sooner. */
  answerBeginsMs: 100,
  /** bytes of JSON that a worker says of its progress; each heartbeat writes it. */
  taskDetailsBytes: 16_384,
  /** attempts of a task that are shown, the last ones. */
  taskErrorsShown: 10,
  /** tasks that one alarm of a queue looks at, and actors that it tells at once how theirs ended. */
  tasksPerAlarm: 200,
  tellingsAtOnce: 16,
  /** ms a queue waits for an actor to take a result, and after which it tells it again: the first pause, doubled up to the most. */
  tellingMs: 30_000,
  tellAgainMs: 1_000,
  tellAgainMostMs: 300_000,
  /** records between two seals: each seal moves keys into blocks and keeps a checkpoint. */
  recordsPerSeal: 256,
} as const;
