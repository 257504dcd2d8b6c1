/** A route's description. */
interface RouteDescription {
  summary: string
  description?: string
  /** Error statuses that only this route returns. */
  errors?: readonly number[]
}

/** Descriptions of routes that are not operations, because their responses are streams. */
export const routeDescriptions: Readonly<Record<'live' | 'usageLive' | 'try', RouteDescription>> = {
  live: {
    summary: 'Follow live events',
    description:
      'A stream of server-sent events, each with JSON. `running`, sent first, lists the requests in flight. `began`, `attempt` (it starts or ends, or a target is skipped), `first-word` (first token), and `finished` (the request record) follow a request. `health`: a target changed its state; `changed`: a record may have; `lost`: events were skipped. A reader that reconnects within a minute with the id of its last event gets up to 5,000 missed events. From other instances, only `finished` and `changed` follow, if the storage reports changes. Comments keep the stream open.',
  },
  usageLive: {
    summary: 'Follow requests as they end',
    description:
      'A stream of server-sent events: `request` with a request as JSON, and `dropped` with the number of requests that a slow reader missed. Requests of other instances follow once they are written, if the storage reports changes. Comments keep the stream open.',
    errors: [409],
  },
  try: {
    summary: 'Send a model request',
    description:
      'Sends the `body` to the `path`, as the key with the id `asKey`, the account `asAccount` (id or ref), or the operator. Returns its response.',
    errors: [404, 408, 413, 415, 429, 502, 504],
  },
}

export const ifMatchDescription =
  'The `ETag` of the record that the change is based on. If the record has changed since, returns 409 with the current record as `current`.'

export const formatDescription = 'Response format; default: from `Accept`, otherwise `json`.'

/** Descriptions of the live event parameters. */
export const liveParameterDescriptions: Readonly<Record<string, string>> = {
  after: 'The id of the last event you received.',
  types: 'Only events of these types, comma-separated. Default: all.',
  'last-event-id': 'The same as `after`; takes precedence over it.',
}

/** Tag descriptions: the management API's resources, and the rest of the gateway. */
export const tagDescriptions: Readonly<Record<string, string>> = {
  keys: 'API keys with which clients call models.',
  groups: 'Groups of API keys that share limits.',
  accounts: "The accounts of your app's users and customers.",
  tokens: 'Short-lived tokens for browsers and devices.',
  settings: 'The settings of the gateway.',
  live: 'Live events of the gateway.',
  guards: 'Guards that read, change, or reject the content of requests and responses.',
  combos: 'Virtual models: named groups of models with a routing strategy.',
  connections: 'Your accounts with providers.',
  customModels: 'Models that are not in the catalog.',
  aliases: 'Alternative names of models.',
  providers: 'The providers in the catalog and their connection strategies.',
  cloud: 'Cloud sync: a copy of the data on a cloud proxy.',
  account: 'The calling account or API key, and its limits.',
  usage: 'Usage: requests, tokens, and costs.',
  try: 'Model requests by callers of the management API.',
  explain: 'How a request would be routed.',
  overview: 'A summary for operators.',
  info: 'Facts about the gateway and its current load.',
  openapi: 'The description of the API.',
  damagedRecords: 'Damaged records in the storage.',
  health: 'The health of providers, connections, and models.',
  models: 'The listing of models.',
  inference: 'Requests to models, in the formats of their vendors.',
  gateway: 'The gateway itself, for load balancers.',
}

export const statusDescriptions: Readonly<Record<number, string>> = {
  400: 'The request is invalid. The message says why; nothing was changed.',
  401: 'The credential is missing or wrong.',
  403: 'The credential does not allow this: a paused API key, a model it may not use, or a page on another site.',
  404: 'The record or model does not exist.',
  408: 'The request body did not arrive in time.',
  409: 'The current state of the gateway does not allow this.',
  413: 'The request body is too large.',
  415: 'The request body is not UTF-8 JSON.',
  429: 'A rate limit was reached. See `retry-after`.',
  500: 'The gateway failed.',
  502: "The provider or the cloud proxy failed, or rejected the gateway's credentials.",
  503: 'The gateway is shutting down, is too busy, or cannot reach its storage, or no target accepts requests.',
  504: 'The provider or the cloud proxy did not respond in time.',
}
