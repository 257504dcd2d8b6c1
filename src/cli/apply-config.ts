import { memoryStorage } from '../../adapters/storage/memory.ts'
import { isGatewayError } from '../errors.ts'
import { createGateway } from '../gateway.ts'
import type { Management } from '../management/management.ts'
import { SETTINGS, VAULT } from '../store/collections.ts'
import { recordKinds } from '../store/readings.ts'
import type { Catalog, Storage } from '../types.ts'
import type { ConfigEntry, ConfigFile } from './config-file.ts'
import { problem } from './problem.ts'

/** What is needed to write to the data as a gateway does. */
export interface DataAccess {
  storage: Storage
  catalog: Catalog
  secret: string | undefined
}

/** Runs management operations on the data before any gateway serves it. */
export async function withManagement<T>(
  { storage, catalog, secret }: DataAccess,
  work: (api: Management) => Promise<T>,
): Promise<T> {
  const gateway = createGateway({ storage, catalog, logger: false, ...(secret !== undefined && { secret }) })
  try {
    return await work(gateway.api)
  } finally {
    await gateway.close()
  }
}

/**
 * Writes what the file names and leaves the rest alone; a second time it writes nothing. Throws a problem that names the place of what is
 * refused, before anything is written: all of it is tried on a copy first.
 */
export async function applyConfig(config: ConfigFile, data: DataAccess): Promise<void> {
  await withManagement({ ...data, storage: await copyOf(data.storage) }, (api) => apply(config, api))
  await withManagement(data, (api) => apply(config, api))
}

async function apply(config: ConfigFile, typed: Management): Promise<void> {
  const api = typed as Management<unknown> // the operations check what the file says
  const each = async (entries: readonly ConfigEntry[], put: (input: unknown) => Promise<unknown>) => {
    for (const { place, input } of entries) await put(input).catch((error) => refuse(config.path, place, error))
  }
  await each(config.connections, api.connections.put)
  await each(config.customModels, api.customModels.put)
  await each(config.aliases, api.aliases.set)
  await each(config.combos, api.combos.put)
  await each(config.keys, api.keys.put)
  await each(config.settings, api.settings.update)
}

function refuse(path: string, place: string, cause: unknown): never {
  if (!isGatewayError(cause) || cause.status >= 500) throw cause
  throw problem(`${path}: ${place}: ${cause.message}`, { cause })
}

/** A copy in memory of all records but client keys, of which there may be very many and on which no other record depends. */
async function copyOf(storage: Storage): Promise<Storage> {
  const copy = memoryStorage()
  const { keys: _, ...copied } = recordKinds
  for (const prefix of [...Object.values(copied).map((kind) => kind.prefix), SETTINGS, VAULT])
    for (const { key, value } of await storage.list(prefix)) await copy.set(key, value)
  return { ...copy, ...(storage.ownSecret && { ownSecret: storage.ownSecret }) }
}
