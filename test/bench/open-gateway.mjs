import { createGateway } from 'signalbox'
import { fileStorage } from 'signalbox/storage/file'
import { memoryStorage } from 'signalbox/storage/memory'

/** US dollars a million tokens. */
const PRICES = { bench: { input: 0.5, output: 2 } }

/** So large that no run uses them up. */
const LIMITS = { requests: { minute: 100_000_000 }, tokens: { day: 1_000_000_000_000 }, usd: { month: 1_000_000 } }

/**
 * The built gateway with all that a request costs: the key is checked, the name resolved, the usage recorded and told. Its data is in the folder that
 * the variable `STORE` names, or else in memory. With the variable `LIMITS` the key has limits of requests, tokens and US dollars.
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
    await gateway.api.connections.create({
      provider,
      apiKey,
      providerSpecificData: { prefix, baseUrl },
      prices: PRICES,
    })
  }
  await gateway.api.combos.create({ name: 'pair', models: ['chat/bench', 'spare/bench'] })
  await gateway.api.settings.update({ requireApiKey: true })
  const { key } = await gateway.api.keys.create({ name: 'bench', ...(process.env.LIMITS && { limits: LIMITS }) })
  return { gateway, key }
}
