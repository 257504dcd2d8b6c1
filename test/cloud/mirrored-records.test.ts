import type { Collection, Verdict } from '../../src/features/cloud-sync/protocol.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { assert, suite } from '../support/suite.ts'
import { createHome } from './support/gateway.ts'
import { openProxy } from './support/proxy.ts'

const test = suite('records sent to a replica')

const AT = '2026-01-01T00:00:00.000Z'
const digest = 'a'.repeat(64)
const times = { createdAt: AT, updatedAt: AT }

/** One record per collection, with only its required fields. */
const least: Partial<Record<Collection, JsonObject>> = {
  settings: { requireApiKey: true },
  keys: { id: 'k', name: 'k', createdAt: AT, digest },
  connections: { id: 'c', provider: 'openai', name: 'c', ...times },
  combos: { id: 'b', name: 'b', models: [], ...times },
  customModels: { id: 'm', providerAlias: 'openai' },
  aliases: { alias: 'a', model: 'openai/m' },
  providers: { provider: 'openai', strategy: 'random' },
}

const getId = (collection: string, { id, alias, provider, providerAlias }: JsonObject) =>
  collection === 'settings'
    ? collection
    : providerAlias
      ? JSON.stringify([providerAlias, id])
      : String(id ?? alias ?? provider)

/** Sends a single record to a proxy. Returns the verdict. */
async function getVerdict(collection: string, record: JsonObject): Promise<Verdict | undefined> {
  const home = createHome(await openProxy().enrolled())
  const full = least[collection as Collection] ?? {}
  const revision = [1, 0] as const
  const hasActive = collection === 'keys' || collection === 'connections'
  const state = { collection: collection as Collection, id: getId(collection, full), revision, record }
  const { verdicts } = await home.enable([{ ...state, ...(hasActive && { active: { isActive: true, revision } }) }])
  return verdicts[0]
}

for (const [collection, record] of Object.entries(least))
  test(`a record in ${collection} is accepted, unless a field is missing or unknown`, async () => {
    assert.is(await getVerdict(collection, record), 'taken')
    for (const name of Object.keys(record)) {
      const { [name]: _, ...rest } = record
      assert.is(typeof (await getVerdict(collection, rest)), 'object', `without ${name}`)
    }
    const verdict = await getVerdict(collection, { ...record, isUnknown: true })
    assert.match(typeof verdict === 'object' ? verdict.refused : '', /Unknown field "isUnknown"/)
  })
