import { createRequire } from 'node:module'
import { createGateway } from 'signalbox'

/** Prices in US dollars per million tokens. */
const PRICES = { input: 0.5, output: 2 }

/** The secret for stores that don't create one. */
const SECRET = 'a-secret-of-the-benchmark-0123456789'

/** Limits that no run reaches. */
const LIMITS = { requests: { minute: 100_000_000 }, tokens: { day: 1_000_000_000_000 }, usd: { month: 1_000_000 } }

/** The mock provider's models, by connection prefix. Each model gets a combo with the same name. */
const MODELS = { chat: ['chat-100x0', 'chat-100x50', 'chat-40x50'], messages: ['messages-100x0'] }

/** Identifies the user by a cookie, like an app with its own sign-in. */
function identify({ headers }) {
  const account = /s=(\w+)/.exec(headers.get('cookie') ?? '')?.[1]
  return account === undefined ? null : { account }
}

/**
 * Opens the built gateway with a new user's setup: a required API key, a combo, and usage records unless `USAGE` is `off`. If `IDENTIFY` is `on`,
 * requests use `identify` instead of a key. `STORE` selects the store: `memory`, a folder, `redis://…?name=…`, or `postgres://…?name=…`. If the store
 * is empty, sets it up and returns the keys that it has created.
 */
export async function openGateway(options = {}) {
  const storage = await openStorage(process.env.STORE)
  const isIdentified = process.env.IDENTIFY === 'on'
  const gateway = createGateway({
    storage,
    ...(!storage.ownSecret && { secret: SECRET }),
    ...(process.env.USAGE === 'off' && { usage: false }),
    ...(isIdentified && { identify }),
    ...options,
  })
  const { requireApiKey } = await gateway.api.settings.get()
  const keys = requireApiKey ? {} : await setUp(gateway)
  return { gateway, storage, keys: isIdentified ? { ...keys, cookie: 's=user_1' } : keys }
}

async function setUp({ api }) {
  const baseUrl = `${process.env.PROVIDER}/v1`
  for (const [prefix, models] of Object.entries(MODELS)) {
    await api.connections.create({
      provider: `${prefix === 'messages' ? 'anthropic' : 'openai'}-compatible-bench`,
      apiKey: `provider-key-of-the-bench-for-${prefix}`,
      providerSpecificData: { prefix, baseUrl },
      prices: Object.fromEntries(models.map((model) => [model, PRICES])),
    })
    for (const model of models) await api.combos.create({ name: model, models: [`${prefix}/${model}`] })
  }
  await api.combos.create({ name: 'vectors', kind: 'embedding', models: ['chat/vectors'] })
  await api.settings.update({ requireApiKey: true })
  const { key } = await api.keys.create({ name: 'bench' })
  const { key: limitedKey } = await api.keys.create({ name: 'bench with limits', limits: LIMITS })
  return { key, limitedKey }
}

async function openStorage(place) {
  if (place === 'memory') return (await import('signalbox/storage/memory')).memoryStorage()
  if (!/^(?:redis|postgres):/.test(place)) return (await import('signalbox/storage/file')).fileStorage(place)
  const require = createRequire(new URL('../services/', import.meta.url))
  const url = new URL(place)
  const name = url.searchParams.get('name')
  url.searchParams.delete('name')
  if (url.protocol === 'redis:') {
    const client = require('redis').createClient({ url: url.href })
    await client.connect()
    return (await import('signalbox/storage/redis')).redisStorage(client, { prefix: name })
  }
  const pool = new (require('pg').Pool)({ connectionString: url.href })
  return (await import('signalbox/storage/postgres')).postgresStorage(pool, { table: name })
}
