import type { DashboardServer } from './site.ts'

/** Creates records and requests of each kind, so every page has something to show. */
export async function fill({ gateway: { api }, send }: DashboardServer): Promise<void> {
  const group = await api.groups.create({ name: 'team', limits: { usd: { month: 50 } } })
  await api.connections.create({ provider: 'openai', name: 'main', apiKey: 'sk-0123456789abcdef', priority: 1 })
  await api.connections.create({ provider: 'groq', name: 'spare', apiKey: 'gsk_0123456789abcdef' })
  await api.combos.create({ name: 'fast', models: ['groq/llama-3.3-70b-versatile', 'openai/gpt-5-mini'] })
  await api.aliases.set({ alias: 'cheap', model: 'openai/gpt-5-mini' })
  const ci = await api.keys.create({
    name: 'ci',
    group: group.id,
    limits: { requests: { minute: 600 }, usd: { month: 10 } },
  })
  const bob = await api.keys.create({ name: 'bob', models: ['fast'], expiresAt: '2099-01-01T00:00:00Z' })
  const old = await api.keys.create({ name: 'old' })
  await api.keys.update(old.id, { isActive: false })
  for (const [model, key] of [
    ['fast', ci.key],
    ['openai/gpt-5-mini', bob.key],
    ['cheap', ci.key],
    ['fast', old.key],
    ['nothing', ci.key],
    ['fast', bob.key],
  ] as const)
    await (await send({ model, user: 'someone' }, { key })).text()
}
