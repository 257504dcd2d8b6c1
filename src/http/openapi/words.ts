/** What an operation of the management API does. */
interface Words {
  summary: string
  description?: string
  /** Statuses of errors that only this operation gives. */
  errors?: readonly number[]
}

const words = (summary: string, description?: string, errors?: readonly number[]): Words => ({
  summary,
  ...(description !== undefined && { description }),
  ...(errors && { errors }),
})

const IN_PLACE = 'Absent members stay as they are, and `null` removes one.'

const KEPT =
  'Absent members stay as they are. Writes nothing when nothing would change, so that it may be sent at each start.'
const PUT = `Found by its \`id\`, or without one by its name. ${KEPT}`

/** Statuses of operations on cloud mode: cloud mode does not allow the operation, the proxy fails, it takes too long. */
const CLOUD_ERRORS = [409, 502, 504]

/** Of the limits of something, which `which` names. */
const limitWords = (resource: string, whose: string, which: string): Record<string, Words> => ({
  [`${resource}.limits.get`]: words(`Get the limits that hold for ${whose}`, `${which} As they stand now.`),
  [`${resource}.limits.reset`]: words(
    `Start the counters of ${whose} anew`,
    'What requests under way have reserved stays reserved.',
  ),
  [`${resource}.limits.settle`]: words(
    `Settle what lost instances had reserved for ${whose}`,
    'It counts as used for good, or with `as` "unspent" as not used.',
  ),
})

/** What each served operation does, by its name in `gateway.api`; for several operations on one route, what they have in common. */
export const operationWords: Readonly<Record<string, Words>> = {
  'keys.list': words(
    'List the API keys',
    'In the order of their creation. Each has its value, or with `values=none` a `hint`. There are more while the answer has `after`.',
  ),
  'keys.create': words('Create an API key', 'The answer has the value of the key as `key`.'),
  'keys.put': words('Create or change an API key', `${PUT} \`key\` is a value of your own.`),
  'keys.get': words('Get an API key'),
  'keys.update': words('Change, pause or resume an API key', `${IN_PLACE} Takes effect with the next request.`),
  'keys.delete': words('Delete an API key', 'The key is unknown from then on.'),
  'keys.rotate': words(
    'Give an API key another value',
    'The answer has the new value as `key`. The old value stays valid for `graceMs`: 0 by default, at most 30 days.',
  ),
  ...limitWords('keys', 'an API key', 'Those of the key, of its group and of the gateway.'),
  ...limitWords('groups', 'a group of keys', 'Those of the group and of the gateway.'),
  ...limitWords('settings', 'the gateway', 'Those in the settings.'),
  'groups.list': words('List the groups of keys', 'In the order of their creation.'),
  'groups.create': words('Create a group of keys', 'Such as a customer, a team or a plan: its keys share its limits.'),
  'groups.put': words('Create or change a group of keys', PUT),
  'groups.get': words('Get a group of keys'),
  'groups.update': words(
    'Change, pause or resume a group of keys',
    `${IN_PLACE} Takes effect with the next request of each of its keys.`,
  ),
  'groups.delete': words('Delete a group of keys', 'Refused while it has keys.'),
  'settings.get': words('Get the settings'),
  'settings.update': words(
    'Change the settings',
    'Absent members stay as they are. Of the rules for requests, `null` restores the default. `cloudUrl` loses one trailing `/v1`, then all trailing slashes, and may be empty.',
    [409],
  ),
  'combos.list': words('List the combos'),
  'combos.create': words('Create a combo', 'Its name must be free; clients then request it like a model.'),
  'combos.put': words('Create or change a combo', PUT),
  'combos.get': words('Get a combo'),
  'combos.update': words('Change a combo', `${IN_PLACE} Its rotation is reset.`),
  'combos.delete': words('Delete a combo'),
  'connections.list': words('List the connections', 'Credentials are shown by their last four characters.'),
  'connections.create': words(
    'Create a connection',
    'The provider is in the catalog, of a compatible kind, or comes with a `baseUrl`. `null` counts as absent. `warnings` say what cannot work yet.',
  ),
  'connections.put': words('Create or change a connection', `Found by its \`id\`, which you choose. ${KEPT}`),
  'connections.get': words('Get a connection'),
  'connections.update': words(
    'Change a connection',
    `${IN_PLACE} \`providerSpecificData\` is replaced as a whole. Its health is forgotten.`,
  ),
  'connections.discover': words(
    'Ask the server of a connection for its models',
    'They become its `enabledModels`. Where the server cannot be asked, nothing changes, and `warnings` say what to do. A body is not needed.',
    [415],
  ),
  'connections.test': words(
    'Ask a connection for one small answer',
    'At most 16 tokens within 10 s, by a request like that of a client, which is kept as usage and counts for its health. A body is not needed.',
  ),
  'connections.delete': words('Delete a connection'),
  'models.published': words(
    'List what clients can ask for',
    'The models that `GET /v1/models` lists, for callers of this API, who need no API key. With a query, models of any kinds, each with its kind and, where known, its price and size. There are more while the answer has `after`.',
  ),
  'customModels.list': words('List the custom models'),
  'customModels.create': words('Create a custom model', 'Adds a model that the catalog does not have.'),
  'customModels.put': words('Create a custom model, or change it', KEPT),
  'customModels.delete': words('Delete a custom model'),
  'aliases.list': words('List the aliases', 'Model names by alias.'),
  'aliases.set': words('Create or change an alias', 'It must not lead back to itself.'),
  'aliases.delete': words('Delete an alias'),
  'providers.list': words('List the providers', 'Those of the catalog, and those with a strategy of their own.'),
  'providers.get': words('Get a provider'),
  'providers.update': words('Set the strategy among the connections of a provider'),
  cloud: words('Act on the mirror at the cloud proxy', undefined, CLOUD_ERRORS),
  'cloud.get': words('Get the state of the mirror', 'What this gateway knows of it; the proxy is not asked.'),
  'cloud.enable': words(
    'Turn cloud mode on',
    'Makes a key when there is none. Succeeds even if the mirror could not be verified.',
  ),
  'cloud.sync': words('Exchange what has changed on either side'),
  'cloud.disable': words(
    'Turn cloud mode off',
    'Takes over what has changed, and removes the mirror and its sessions.',
  ),
  'cloud.check': words('Ask whether a proxy is there'),
  'cloud.sessions.list': words('List the sessions at the cloud proxy', undefined, CLOUD_ERRORS),
  'cloud.sessions.revoke': words('End a session at the cloud proxy', undefined, CLOUD_ERRORS),
  'usage.summary': words(
    'Sum up usage',
    'Requests, tokens, costs and percentiles of times, by what `by` names. Also as `text/csv` and `application/jsonl`, the rows alone.',
    [409],
  ),
  'usage.requests': words(
    'List requests',
    'The newest first. A page may have fewer than `limit`; there are more while it has `before`. As `text/csv` and `application/jsonl` without `limit` all of them are sent; with one, the header `x-signalbox-before` has `before`.',
    [409],
  ),
  'usage.request': words(
    'Get a request',
    'By the id in its header `x-signalbox-request-id`. Also as `text/csv` and `application/jsonl`.',
    [409],
  ),
  'usage.live': words(
    'Follow requests as they end',
    'A stream of server-sent events: `request` with a request as JSON, and `dropped` with the number left out because the reader was too slow. Those of other instances follow when they are written, where the storage reports changes. Comments keep the stream open.',
    [409],
  ),
  live: words(
    'Follow live events',
    'A stream of server-sent events, each with JSON: `running` (the requests under way, first of all), `began`, `attempt` (it begins, has its outcome, or a target is passed over), `first-word`, `finished` (the record of the request), `health` (a target changed its state), `changed` (a record may have changed), `lost` (events were left out). A reader that comes again with the id of its last event within a minute gets what it has missed, up to 5,000 events. Of other instances only `finished` and `changed` follow, where the storage tells of changes. Comments keep the stream alive.',
  ),
  try: words(
    'Make a model request',
    'Sends the `body` to the `path`, as the key with the id `asKey`, or as the operator, who needs no key. The answer is that of the gateway with all its headers, streamed if the body asks for it.',
    [404, 408, 413, 415, 429, 502, 504],
  ),
  explain: words(
    'Explain where a request would go',
    'The targets of the request in their order. No provider is called, and no turn is used.',
  ),
  overview: words(
    'Get a summary for operators',
    'Sums by the hour and of the day before, the latest failed requests, recent failures, and the numbers of keys and connections.',
  ),
  info: words(
    'Get facts about the gateway',
    'Its version, its runtime, its storage, how many records it has, and how many model requests are under way.',
  ),
  openapi: words('Get this description'),
  'damagedRecords.get': words('Get a damaged record'),
  'damagedRecords.put': words('Replace a damaged record', 'The new record is given whole.'),
  'damagedRecords.delete': words('Remove a damaged record'),
  'health.list': words(
    'List recent failures, the state of each target, and the damaged records',
    'What is healthy has no entry in `health`.',
  ),
  'health.reset': words('Forget failures', 'Of one connection with its models and provider, or of all.'),
}

/** What the parameters of queries mean. */
export const queryWords: Readonly<Record<string, string>> = {
  from: 'The beginning: a time in ISO 8601 with its zone, or a day in UTC. Default: of sums 24 hours before `to`, of requests all that are kept.',
  to: 'The end, exclusive, in the form of `from`. Default: now.',
  by: 'The values by which sums are divided into rows, with commas: `key`, `group`, `model`, `target`, `user`, `hour`, `day`, `month`. Default `key`. By the hour for at most 32 days.',
  order: 'What comes first among rows of one time. Default `cost`.',
  top: 'The most rows; all others are summed up in a last one, whose `others` is their number. Not with a time in `by`.',
  series:
    '`series` in the answer: the first ten rows by the hour or the day, and all others summed up. Not with a time in `by`.',
  compare: '`before`: adds the sums of the period of the same length before `from`.',
  names: '`names` in the answer: those of the keys and groups of the rows and of the query, by their ids.',
  keyId: 'Empty: requests without a key. Other texts can be empty likewise.',
  model: 'The requested model name.',
  user: 'The end user that clients named.',
  provider: 'A provider that was called.',
  target: 'A provider and a model that were called: `<provider>/<model>`.',
  connectionId: 'A connection that was called.',
  status: 'The HTTP status that the client got.',
  end: 'How the request ended.',
  error: "The code of the gateway's error, such as `KEY_PAUSED`.",
  endpoint: 'The path of the endpoint, such as `/v1/messages`.',
  limit: 'The most entries of a page, up to 1,000. Default: 100 requests, all keys and models.',
  before: 'The `before` of the page before.',
  after: 'The `after` of the page before.',
  kinds: 'Kinds of models, with commas, or `all`. Default `llm`.',
  details: 'Shows what is known of each model; so does every other parameter.',
  q: 'Only keys that have this text in their name or their id, in upper or lower case; only models that have it in their id.',
  group: 'The id of a group: only its keys.',
  state: 'Only keys that may be used now, that are paused, or that have expired.',
  'If-Match':
    'The `ETag` of the record that the change is based on. If it was changed since: 409, with the present record as `current`.',
  values: '`none`: each key has a `hint` in place of its value.',
  format: 'What the answer is sent as; default: by `Accept`, otherwise `json`.',
}

/** The descriptions of the parameters of the live events. */
export const liveWords: Readonly<Record<string, string>> = {
  after: 'The id of the last event that was seen.',
  types: 'Only events of these types, with commas between them. Default: all.',
  'last-event-id': 'The same as `after`, and before it.',
}

/** The descriptions of the tags: the resources of the management API, and the rest of the gateway. */
export const tagWords: Readonly<Record<string, string>> = {
  keys: 'The API keys by which clients call models.',
  groups: 'Groups of API keys, which share limits.',
  settings: 'The settings of the gateway.',
  live: 'Live events of the gateway.',
  combos: 'Named groups of models, each requested like a model.',
  connections: 'Accounts at providers.',
  customModels: 'Models that the catalog does not have.',
  aliases: 'Other names of models.',
  providers: 'The providers of the catalog, and the strategies among their connections.',
  cloud: 'The mirror of the data at a cloud proxy.',
  usage: 'Usage: requests, tokens and costs.',
  try: 'Model requests by callers of the management API.',
  explain: 'Where a request would go.',
  overview: 'A summary for operators.',
  info: 'Facts about the gateway and its present load.',
  openapi: 'The description of the API.',
  damagedRecords: 'Records of the storage that cannot be read as they stand.',
  health: 'The health of providers, connections and models.',
  models: 'The listing of models.',
  inference: 'Requests to models, in the formats of their vendors.',
  gateway: 'The gateway itself, for load balancers.',
}

/** What a status of an error means. */
export const statusWords: Readonly<Record<number, string>> = {
  400: 'The request is not valid. The message names what is wrong; nothing has changed.',
  401: 'The credential is missing or wrong.',
  403: 'The credential does not allow this: a paused API key, a model that it may not use, or a page of another site.',
  404: 'There is no such record or model.',
  408: 'The body of the request did not arrive in time.',
  409: 'The state of the gateway does not allow this now.',
  413: 'The body of the request is too large.',
  415: 'The body of the request is not JSON in UTF-8.',
  429: 'A provider limits requests. See `retry-after`.',
  500: 'The gateway failed.',
  502: 'The provider or the cloud proxy failed, or refused the credentials of the gateway.',
  503: 'The gateway shuts down, is too busy, or cannot reach its storage; or no target takes requests.',
  504: 'The provider or the cloud proxy did not answer in time.',
}
