import * as v from 'valibot'
import { decodeJsonText, MAX_DEPTH, parseJsonObject } from '../../../lib/json.ts'
import { scanTopLevel } from '../../../lib/json-scan.ts'
import { countSchema, scopeUsageSchema } from '../gateway/cloud-spending.ts'
import {
  collections,
  type EncryptedBody,
  MAX_ACCOUNTS,
  MAX_ATTEMPTS,
  MAX_STATES,
  type OpenSession,
  type SpendingRequest,
  type SyncRequest,
} from '../protocol.ts'
import { createProxyError } from './proxy-errors.ts'

/* Parses gateway messages with strict schemas. The records in them are validated when they are merged. */

/** Maximum nesting depth of a message. Its records start at level 4 and may be as deep as in a request to `/api`. */
const MAX_MESSAGE_DEPTH = MAX_DEPTH + 4

const createTextSchema = (max: number) => v.pipe(v.string(), v.maxLength(max))
const revision = v.tuple([countSchema, countSchema])
const stateIdFields = {
  collection: v.picklist(collections),
  id: v.pipe(createTextSchema(4_096), v.minLength(1)),
  revision,
}

const base = v.exactOptional(revision)

const state = v.strictObject({
  ...stateIdFields,
  base,
  record: v.nullable(v.record(v.string(), v.unknown())),
  active: v.exactOptional(v.strictObject({ isActive: v.boolean(), revision, base })),
})
const confirmation = v.strictObject({ ...stateIdFields, activeRevision: v.exactOptional(revision) })
const createLimitedArray = <T extends v.GenericSchema>(item: T) => v.pipe(v.array(item), v.maxLength(MAX_STATES))

const schemas = {
  opening: v.strictObject({
    challenge: createTextSchema(400),
    publicKey: createTextSchema(400),
    exchangeKey: createTextSchema(400),
    enrollmentToken: v.exactOptional(createTextSchema(4_096)),
    signature: createTextSchema(400),
  }),
  sealed: v.strictObject({ sealed: v.string() }),
  sync: v.strictObject({
    mirror: v.nullable(createTextSchema(100)),
    create: v.exactOptional(v.literal(true)),
    stamp: v.nullable(createTextSchema(100)),
    attempts: v.exactOptional(v.pipe(v.array(createTextSchema(100)), v.maxLength(MAX_ATTEMPTS))),
    full: v.exactOptional(v.literal(true)),
    changes: createLimitedArray(state),
    seen: createLimitedArray(confirmation),
  }),
  spent: v.strictObject({
    mirror: createTextSchema(100),
    accounts: v.pipe(v.array(v.strictObject(scopeUsageSchema.entries)), v.maxLength(MAX_ACCOUNTS)),
    after: v.exactOptional(createTextSchema(10_000)),
  }),
}

/** Throws `INVALID_MESSAGE` for an invalid message. The error names the first invalid field, but never its value. */
function parseMessage<T extends v.GenericSchema>(schema: T, message: string): v.InferOutput<T> {
  const { depth } = scanTopLevel(message, [])
  if (depth > MAX_MESSAGE_DEPTH)
    throw createProxyError('INVALID_MESSAGE', `The message is nested deeper than ${MAX_MESSAGE_DEPTH} levels.`)
  const { success, issues, output } = v.safeParse(schema, parseJsonObject(message, 0))
  if (success) return output
  const path = v.getDotPath(issues[0])
  throw createProxyError(
    'INVALID_MESSAGE',
    `This is not a valid protocol message: ${path ? `"${path}" is invalid` : 'a field is missing or unknown'}.`,
  )
}

export const readOpening = (body: Uint8Array): OpenSession => parseMessage(schemas.opening, decodeJsonText(body))
export const readEncryptedBody = (body: Uint8Array): EncryptedBody => parseMessage(schemas.sealed, decodeJsonText(body))
export const readSpendingRequest = (message: string): SpendingRequest => parseMessage(schemas.spent, message)
export const readSync = (message: string): SyncRequest => parseMessage(schemas.sync, message)
