import * as v from 'valibot'
import { EFFORTS } from '../formats/canonical/base-traits.ts'
import { comboFields } from '../types/records/combos.ts'
import { connectionFields } from '../types/records/connections.ts'
import { groupFields } from '../types/records/groups.ts'
import { keyFields } from '../types/records/keys.ts'
import { aliasFields, customModelFields } from '../types/records/models.ts'
import { settingsFields } from '../types/records/settings.ts'
import { kinds, providerFormats, strategies, wireFormats } from '../types/unions.ts'
import type { Settings } from '../types.ts'
import { comboModel } from './combo-entry.ts'
import { anyObject, choiceOf } from './input.ts'
import type { Management } from './operations.ts'
import { shownSchema, wholeSchema } from './output-schemas.ts'
import { keptRequest, usageOutputs, usageRow, usageTotals } from './usage-outputs.ts'

const text = v.string()
const flag = v.boolean()
const number = v.number()
const whole = v.pipe(number, v.integer())
const time = v.pipe(text, v.isoTimestamp())
const texts = v.array(text)
const jsonObject = anyObject('must be an object')
const kind = choiceOf(kinds)
const strategy = choiceOf(strategies)
const wireFormat = choiceOf(wireFormats)
const failureClass = v.picklist([
  'client',
  'context-overflow',
  'format',
  'over-budget',
  'credentials',
  'forbidden',
  'rate-limit',
  'server',
  'network',
  'timeout',
  'content',
  'filtered',
  'schema',
  'model-not-found',
  'internal',
])
const level = v.picklist(['provider', 'connection', 'model'])

const success = v.object({ success: v.literal(true) })
const warnings = { warnings: v.exactOptional(texts) }

const apiKey = shownSchema(keyFields, { error: v.exactOptional(text) })
const { isActive: _, ...createdFields } = keyFields
const { key: __, ...unvaluedFields } = keyFields
const hintedApiKey = shownSchema(unvaluedFields, { hint: text, error: v.exactOptional(text) })
const listedApiKey = v.union([apiKey, hintedApiKey])
const newApiKey = shownSchema(createdFields, warnings)
const changedApiKey = v.object({ key: apiKey, ...warnings })

const limitState = v.object({
  scope: v.picklist(['key', 'group', 'gateway']),
  id: v.exactOptional(text),
  unit: v.picklist(['requests', 'tokens', 'usd', 'parallel']),
  window: v.nullable(v.picklist(['minute', 'hour', 'day', 'week', 'month', 'total'])),
  limit: number,
  used: number,
  reserved: number,
  unsettled: number,
  remaining: number,
  resetsAt: v.nullable(time),
})
const ofLimits = { get: v.object({ limits: v.array(limitState) }), reset: success, settle: success }

const keyGroup = shownSchema(groupFields, { error: v.exactOptional(text) })
const changedKeyGroup = shownSchema(groupFields, { error: v.exactOptional(text), ...warnings })

const settings = wholeSchema<Settings>(settingsFields, [
  'limits',
  'unpriced',
  'whenStoreIsAway',
  'requestModels',
  'usage',
])

const combo = shownSchema(comboFields)
const changedCombo = shownSchema(comboFields, warnings)

const healthEntry = v.object({
  level,
  provider: text,
  connectionId: v.exactOptional(text),
  model: v.exactOptional(text),
  combo: v.exactOptional(text),
  state: v.picklist(['counting', 'cooling', 'half-open', 'probing']),
  reason: failureClass,
  message: text,
  failures: whole,
  since: time,
  retryAt: v.exactOptional(time),
})
const targetState = v.object({
  provider: text,
  connectionId: text,
  model: v.exactOptional(text),
  combo: v.exactOptional(text),
  state: v.picklist(['ok', 'cooling', 'probing', 'draining']),
  calls: whole,
  failureShare: v.exactOptional(number),
  level: v.exactOptional(level),
  reason: v.exactOptional(failureClass),
  message: v.exactOptional(text),
  until: v.exactOptional(time),
})

const ofConnections = { error: v.exactOptional(text), health: v.exactOptional(v.array(healthEntry)) }
const connection = shownSchema(connectionFields, ofConnections)
const changedConnection = shownSchema(connectionFields, { ...ofConnections, ...warnings })

const testedConnection = v.object({
  ...{ ok: flag, status: whole, ms: number, model: text },
  message: v.exactOptional(text),
})

const customModel = shownSchema(customModelFields)
const alias = shownSchema(aliasFields, warnings)

const format = choiceOf(providerFormats)
const modelList = v.object({ models: v.array(v.object({ id: text })) })
const price = v.object(
  allOptional({
    ...{ input: number, output: number, cacheRead: number, cacheWrite: number },
    ...{ audioInput: number, audioOutput: number, imageInput: number, imageOutput: number },
    ...{ search: number, page: number, credit: number, image: number, second: number, character: number },
    ...{ minute: number, images: v.record(text, number) },
  }),
)

const publishedModel = v.object({
  id: text,
  object: v.literal('model'),
  created: whole,
  owned_by: text,
  kind: v.exactOptional(kind),
  price: v.exactOptional(price),
  priceSource: v.exactOptional(v.picklist(['connection', 'customModel', 'catalog'])),
  contextWindow: v.exactOptional(whole),
  maxOutput: v.exactOptional(whole),
})
const service = v.object(allOptional({ baseUrl: text, keyHeader: text, price }))
const provider = v.object({
  id: text,
  alias: v.exactOptional(text),
  catalogAlias: v.exactOptional(text),
  name: v.exactOptional(text),
  docsUrl: v.exactOptional(text),
  baseUrl: v.exactOptional(text),
  format: v.exactOptional(format),
  formats: v.exactOptional(v.record(text, format)),
  alsoSpeaks: v.exactOptional(v.array(wireFormat)),
  auth: v.exactOptional(v.picklist(['bearer', 'x-api-key', 'x-goog-api-key', 'api-key'])),
  cloud: v.exactOptional(v.picklist(['azure', 'bedrock', 'vertex'])),
  serviceKinds: v.exactOptional(v.array(kind)),
  models: v.exactOptional(
    v.array(
      v.object({
        id: text,
        type: v.exactOptional(kind),
        contextWindow: v.exactOptional(number),
        maxOutputTokens: v.exactOptional(number),
        price: v.exactOptional(price),
      }),
    ),
  ),
  ttsConfig: v.exactOptional(modelList),
  embeddingConfig: v.exactOptional(modelList),
  searchConfig: v.exactOptional(service),
  fetchConfig: v.exactOptional(service),
  strategy: v.exactOptional(strategy),
  stickyLimit: v.exactOptional(whole),
})

const damagedRecord = v.object({ key: text, problem: text })
const shownDamage = v.object({
  ...damagedRecord.entries,
  stored: text,
  record: v.exactOptional(jsonObject),
})

const shownParams = v.object({
  maxTokens: v.exactOptional(number),
  temperature: v.exactOptional(number),
  topP: v.exactOptional(number),
  topK: v.exactOptional(number),
  stopSequences: v.exactOptional(v.array(text)),
  seed: v.exactOptional(number),
  presencePenalty: v.exactOptional(number),
  frequencyPenalty: v.exactOptional(number),
  reasoning: v.exactOptional(v.picklist(EFFORTS)),
})

const explanation = v.object({
  model: text,
  targets: v.array(
    v.object({
      provider: text,
      model: text,
      connectionId: text,
      connection: text,
      use: v.picklist(['first', 'next', 'beyond', 'last-resort', 'skipped']),
      why: text,
      params: v.exactOptional(shownParams),
      via: v.exactOptional(text),
    }),
  ),
  leftOut: v.array(v.object({ combo: text, model: text, unmet: text })),
  error: v.exactOptional(v.object({ status: whole, code: text, message: text })),
})

const conflict = v.object({ collection: text, id: text, kept: v.picklist(['home', 'cloud']), at: time })
const synced = v.object({ success: v.literal(true), conflicts: v.array(conflict) })
const enabled = v.object({
  ...synced.entries,
  verified: flag,
  verifyError: v.exactOptional(text),
  createdKey: v.exactOptional(newApiKey),
  ...warnings,
})
const cloudState = v.object({
  cloudEnabled: flag,
  cloudUrl: text,
  lastSuccessAt: v.nullable(time),
  lagMs: number,
  lastError: v.nullable(text),
  conflicts: v.array(conflict),
})
const cloudSession = v.object({ id: text, createdAt: time, lastUsedAt: time })

const nearLimit = v.object({ ...limitState.entries, name: v.exactOptional(text) })
const overview = v.object({
  usage: v.exactOptional(usageOutputs.summary),
  failures: v.array(keptRequest),
  health: v.array(healthEntry),
  damaged: whole,
  nearLimits: v.exactOptional(v.array(nearLimit)),
  counts: v.object({ keys: whole, connections: whole }),
  requireApiKey: flag,
  mirrorError: v.exactOptional(text),
})

const info = v.object({
  ...{ version: text, runtime: text, basePath: text, now: time, startedAt: time },
  storage: v.object({ atomic: flag, watches: flag }),
  features: v.object({ usage: flag, cloud: flag, dashboard: flag, observers: whole, pages: texts }),
  requireApiKey: flag,
  counts: v.object({ keys: whole, connections: whole, combos: whole }),
  mayWrite: v.boolean(),
  inFlight: whole,
})

const openapi = v.object({
  openapi: text,
  info: v.object({ title: text, version: text, description: text }),
  servers: v.array(v.object({ url: text })),
  tags: v.array(v.object({ name: text, description: text })),
  paths: v.record(text, v.record(text, jsonObject)),
  components: v.record(text, v.record(text, jsonObject)),
})

const table = {
  keys: {
    list: v.object({ keys: v.array(listedApiKey), after: v.exactOptional(text) }),
    create: newApiKey,
    get: v.object({ key: listedApiKey }),
    update: changedApiKey,
    delete: success,
    put: changedApiKey,
    rotate: newApiKey,
    limits: ofLimits,
  },
  groups: {
    list: v.object({ groups: v.array(keyGroup) }),
    create: changedKeyGroup,
    get: keyGroup,
    update: changedKeyGroup,
    delete: success,
    put: changedKeyGroup,
    limits: ofLimits,
  },
  settings: { get: settings, update: settings, limits: ofLimits },
  combos: {
    list: v.object({ combos: v.array(combo) }),
    create: changedCombo,
    get: combo,
    update: changedCombo,
    delete: success,
    put: changedCombo,
  },
  connections: {
    list: v.object({ connections: v.array(connection) }),
    create: changedConnection,
    get: connection,
    update: changedConnection,
    delete: success,
    put: changedConnection,
    discover: changedConnection,
    test: testedConnection,
  },
  models: {
    published: v.object({ object: v.literal('list'), data: v.array(publishedModel), after: v.exactOptional(text) }),
  },
  customModels: {
    list: v.object({ models: v.array(customModel) }),
    create: customModel,
    delete: success,
    put: customModel,
  },
  aliases: { list: v.object({ aliases: v.record(text, text) }), set: alias, delete: success },
  providers: { list: v.object({ providers: v.array(provider) }), get: provider, update: provider },
  cloud: {
    get: cloudState,
    enable: enabled,
    sync: synced,
    disable: synced,
    check: v.object({ message: text }),
    sessions: { list: v.object({ sessions: v.array(cloudSession) }), revoke: success },
  },
  usage: usageOutputs,
  explain: explanation,
  overview,
  info,
  openapi,
  damagedRecords: { get: shownDamage, put: success, delete: success },
  health: {
    list: v.object({
      health: v.array(healthEntry),
      targets: v.array(targetState),
      damaged: v.array(damagedRecord),
    }),
    reset: success,
  },
}

/**
 * The schema of what each operation resolves to, which is the body that HTTP sends. It is complete, and its types are those of the
 * operations, no member more and none less, or it does not compile.
 */
export const outputs = table satisfies OutputsOf<Management, typeof table>

/** The schemas that clients know by a name of their own. */
export const namedOutputs = {
  ApiKey: apiKey,
  HintedApiKey: hintedApiKey,
  NewApiKey: newApiKey,
  KeyGroup: keyGroup,
  LimitState: limitState,
  Settings: settings,
  Combo: combo,
  ComboModel: comboModel,
  Connection: connection,
  CustomModel: customModel,
  Provider: provider,
  HealthEntry: healthEntry,
  TargetState: targetState,
  DamagedRecord: damagedRecord,
  CloudState: cloudState,
  CloudConflict: conflict,
  CloudSession: cloudSession,
  Explanation: explanation,
  KeptRequest: keptRequest,
  UsageRow: usageRow,
  UsageTotals: usageTotals,
  Overview: overview,
  GatewayInfo: info,
  Success: success,
}

type Call = (...args: never) => Promise<unknown>

/** `Table`, if it has for each operation of `Of` a schema of exactly what that resolves to; otherwise a type that it does not fit. */
type OutputsOf<Of, Table> = Of extends Call
  ? Table extends v.GenericSchema
    ? IsSame<v.InferOutput<Table>, Awaited<ReturnType<Of>>> extends true
      ? Table
      : { mustBeOf: Plain<Awaited<ReturnType<Of>>> }
    : v.GenericSchema
  : { [Name in keyof Of]: OutputsOf<Of[Name], Name extends keyof Table ? Table[Name] : undefined> }

/** Are two types the same in both directions, optional members included? */
type IsSame<A, B> = (<T>() => T extends Plain<A> ? 1 : 2) extends <T>() => T extends Plain<B> ? 1 : 2 ? true : false

/** A type without interfaces, intersections and `readonly`. */
type Plain<T> = T extends readonly (infer Element)[]
  ? Plain<Element>[]
  : T extends object
    ? { -readonly [Member in keyof T]: Plain<T[Member]> }
    : T

/** The same members, of which each may be absent. */
function allOptional<Entries extends v.ObjectEntries>(entries: Entries) {
  const optional = Object.entries(entries).map(([name, entry]) => [name, v.exactOptional(entry)])
  return Object.fromEntries(optional) as { [Name in keyof Entries]: v.ExactOptionalSchema<Entries[Name], undefined> }
}
