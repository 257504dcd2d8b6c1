import * as v from 'valibot'
import { closedObject, fields, parseInput } from '../../../admin/input.ts'
import { createSchema, createSyncedEntries, makeOptional } from '../../../admin/schemas.ts'
import type { JsonObject } from '../../../lib/json.ts'
import { comboFields } from '../../../types/records/combo-fields.ts'
import { connectionFields } from '../../../types/records/connection-fields.ts'
import { groupFields } from '../../../types/records/group-fields.ts'
import { guardFields } from '../../../types/records/guard-fields.ts'
import { keyFields } from '../../../types/records/key-fields.ts'
import { aliasFields, customModelFields, providerFields } from '../../../types/records/model-fields.ts'
import { settingsFields } from '../../../types/records/settings-fields.ts'
import type { Collection } from '../protocol.ts'

/* A replica's records: each collection's replicated fields, with encrypted secrets. */

const digest = v.pipe(fields.text, v.regex(/^[0-9a-f]{64}$/, 'must be the SHA-256 of the key as 64 hex digits'))
const validateSecret = ({
  shape,
}: typeof keyFields.key | typeof connectionFields.apiKey | typeof guardFields.headers) =>
  v.exactOptional(createSchema(shape))

const schemas: Readonly<Record<Collection, ReturnType<typeof closedObject>>> = {
  guards: closedObject({ ...createSyncedEntries(guardFields), headers: validateSecret(guardFields.headers) }),
  settings: closedObject({
    ...createSyncedEntries(settingsFields, { areRequired: true }),
    guards: makeOptional(true, createSchema(settingsFields.guards.shape)),
  }),
  groups: closedObject(createSyncedEntries(groupFields)),
  keys: closedObject({ ...createSyncedEntries(keyFields), digest, key: validateSecret(keyFields.key) }),
  connections: closedObject({
    ...createSyncedEntries(connectionFields),
    apiKey: validateSecret(connectionFields.apiKey),
  }),
  combos: closedObject(createSyncedEntries(comboFields)),
  customModels: closedObject(createSyncedEntries(customModelFields)),
  aliases: closedObject(createSyncedEntries(aliasFields)),
  providers: closedObject(createSyncedEntries(providerFields)),
}

/** Validates a replicated record and converts it to its stored form. Throws `INVALID_REQUEST` with a message that describes the problem. */
export const parseReplicatedRecord = (collection: Collection, record: JsonObject): JsonObject =>
  parseInput<JsonObject>(schemas[collection], record)
