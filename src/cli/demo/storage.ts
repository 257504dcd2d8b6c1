import { memoryStorage } from '../../../adapters/storage/memory.ts'
import { createGateway } from '../../gateway.ts'
import type { Logger, Storage } from '../../types.ts'
import { layeredStorage } from '../layered-storage.ts'
import { BROKEN, demoCatalog, STORYTELLER } from './providers.ts'

/** The user's data with the demo's connections and combos laid over it, in memory: none of them is ever written. */
export async function withDemoRecords(base: Storage, logger: Logger): Promise<Storage> {
  const demo = await demoRecords()
  for (const { key } of await demo.list('combos/')) {
    if (await base.get(key))
      logger.warn(
        `While the demo runs, its combo stands in for yours of the same name: ${key.slice('combos/'.length)}.`,
      )
  }
  return layeredStorage(demo, base)
}

/** As a gateway writes them; each combo tries the target that fails first. */
async function demoRecords(): Promise<Storage> {
  const storage = memoryStorage()
  const gateway = createGateway({ storage, catalog: demoCatalog, logger: false })
  for (const name of Object.keys(demoCatalog)) {
    await gateway.api.connections.create({ provider: name })
    await gateway.api.combos.create({ name, models: [`${name}/${BROKEN}`, `${name}/${STORYTELLER}`] })
  }
  await gateway.close()
  return storage
}
