import { createGateway } from 'signalbox'
import { fileStorage } from 'signalbox/storage/file'
import { memoryStorage } from 'signalbox/storage/memory'

/**
 * The built gateway with all that a request costs: the key is checked, the name resolved, the usage told. Its data is in the folder that the
 * variable `STORE` names, or else in memory.
 */
export async function openGateway() {
  const storage = process.env.STORE ? fileStorage({ path: process.env.STORE, logger: false }) : memoryStorage()
  const gateway = createGateway({ storage, hooks: { onUsage() {} } })
  const baseUrl = `${process.env.PROVIDER}/v1`
  for (const [prefix, provider] of [
    ['chat', 'openai-compatible-bench'],
    ['spare', 'openai-compatible-spare'],
    ['messages', 'anthropic-compatible-bench'],
  ]) {
    const apiKey = `provider-key-of-the-bench-for-${prefix}`
    await gateway.api.connections.create({ provider, apiKey, providerSpecificData: { prefix, baseUrl } })
  }
  await gateway.api.combos.create({ name: 'pair', models: ['chat/bench', 'spare/bench'] })
  await gateway.api.settings.update({ requireApiKey: true })
  const { key } = await gateway.api.keys.create({ name: 'bench' })
  return { gateway, key }
}
