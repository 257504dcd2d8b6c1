import * as v from 'valibot'
import { jsonText, MAX_DEPTH, parseJsonObject } from '../lib/json.ts'
import { scanTopLevel } from '../lib/json-scan.ts'
import { sideAccount } from '../management/cloud-spending.ts'
import {
  collections,
  MAX_ATTEMPTS,
  MAX_SPENT,
  MAX_STATES,
  type OpenSession,
  type Sealed,
  type SpentRequest,
  type SyncRequest,
} from '../sync/protocol.ts'
import { refusal } from './refusals.ts'

/* The messages of gateways, read by closed schemas. The records in them are checked where they are merged. */

/** How deep a message may nest: a record in it may be as deep as in a request to `/api`, and stands at level 4. */
const DEEPEST = MAX_DEPTH + 4

const text = (most: number) => v.pipe(v.string(), v.maxLength(most))
const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0))
const revision = v.tuple([count, count])
const where = { collection: v.picklist(collections), id: v.pipe(text(4_096), v.minLength(1)), revision }

const base = v.exactOptional(revision)

const state = v.strictObject({
  ...where,
  base,
  record: v.nullable(v.record(v.string(), v.unknown())),
  active: v.exactOptional(v.strictObject({ isActive: v.boolean(), revision, base })),
})
const seen = v.strictObject({ ...where, activeRevision: v.exactOptional(revision) })
const few = <T extends v.GenericSchema>(item: T) => v.pipe(v.array(item), v.maxLength(MAX_STATES))

const schemas = {
  opening: v.strictObject({
    challenge: text(400),
    publicKey: text(400),
    exchangeKey: text(400),
    enrolment: v.exactOptional(text(4_096)),
    signature: text(400),
  }),
  sealed: v.strictObject({ sealed: v.string() }),
  sync: v.strictObject({
    mirror: v.nullable(text(100)),
    create: v.exactOptional(v.literal(true)),
    stamp: v.nullable(text(100)),
    attempts: v.exactOptional(v.pipe(v.array(text(100)), v.maxLength(MAX_ATTEMPTS))),
    full: v.exactOptional(v.literal(true)),
    changes: few(state),
    seen: few(seen),
  }),
  spent: v.strictObject({
    mirror: text(100),
    accounts: v.pipe(v.array(v.strictObject(sideAccount.entries)), v.maxLength(MAX_SPENT)),
    after: v.exactOptional(text(10_000)),
  }),
}

/** Throws `INVALID_MESSAGE`, which names the first member that is wrong, and never its value. */
function read<T extends v.GenericSchema>(schema: T, message: string): v.InferOutput<T> {
  const { depth } = scanTopLevel(message, [])
  if (depth > DEEPEST) throw refusal('INVALID_MESSAGE', `The message nests deeper than ${DEEPEST} levels.`)
  const { success, issues, output } = v.safeParse(schema, parseJsonObject(message, 0))
  if (success) return output
  const path = v.getDotPath(issues[0])
  throw refusal(
    'INVALID_MESSAGE',
    `This is no message of the protocol: ${path ? `"${path}" is wrong` : 'a member is missing or unknown'}.`,
  )
}

export const readOpening = (body: Uint8Array): OpenSession => read(schemas.opening, jsonText(body))
export const readSealed = (body: Uint8Array): Sealed => read(schemas.sealed, jsonText(body))
export const readSpent = (message: string): SpentRequest => read(schemas.spent, message)
export const readSync = (message: string): SyncRequest => read(schemas.sync, message)
