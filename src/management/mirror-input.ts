import * as v from 'valibot'
import type { JsonObject } from '../lib/json.ts'
import type { Collection } from '../sync/protocol.ts'
import { comboInputs } from './combo-input.ts'
import { newConnection } from './connection-input.ts'
import { closed, fields, parseInput } from './input.ts'
import { keyInputs } from './keys.ts'
import { aliasInputs, customModelInputs } from './models.ts'
import { providerInputs } from './providers.ts'

/* The records of a mirror: what `/api` takes of each kind, and besides it what a gateway sets itself. */

const id = v.pipe(fields.raw(512), v.nonEmpty('must not be blank'))
const time = v.pipe(
  fields.raw(40),
  v.check((text) => !Number.isNaN(Date.parse(text)), 'must be a date in ISO 8601'),
)
const digest = v.pipe(fields.text, v.regex(/^[0-9a-f]{64}$/, 'must be the SHA-256 of the key in 64 hex digits'))

const { draining, priority, apiKey, providerSpecificData } = newConnection.entries
const comboName = v.pipe(fields.raw(512), v.regex(/^[a-zA-Z0-9_.-]+$/, 'must be letters, digits, "-", "_" or "."'))

const schemas = {
  settings: closed({ requireApiKey: fields.flag }),
  keys: closed({ id, name: fields.name, createdAt: time, digest, key: keyInputs.put.entries.key }),
  connections: closed({
    id,
    provider: fields.name,
    name: fields.name,
    draining,
    priority: v.exactOptional(priority.wrapped.wrapped),
    apiKey: v.exactOptional(apiKey.wrapped.wrapped),
    providerSpecificData: v.exactOptional(providerSpecificData.wrapped.wrapped),
    createdAt: time,
    updatedAt: time,
  }),
  combos: closed({ ...comboInputs.create.entries, id, name: comboName, createdAt: time, updatedAt: time }),
  customModels: customModelInputs.create,
  aliases: aliasInputs.set,
  providers: closed({ provider: fields.name, ...providerInputs.update.entries }),
}

/** A record of a mirror as it may be stored. Throws `INVALID_REQUEST` with a sentence on what is wrong with it. */
export function parseMirrored(collection: Collection, record: JsonObject): JsonObject {
  const parsed: JsonObject = parseInput<v.ObjectEntries>(schemas[collection], record)
  return parsed
}
