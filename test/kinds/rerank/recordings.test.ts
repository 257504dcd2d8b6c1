import type { JsonObject } from '../../../src/lib/json.ts'
import { defaultCatalog } from '../../../src/protocols/providers/catalog.ts'
import { recordedExchanges } from '../../formats/support/recordings.ts'
import { fakeUpstream, json } from '../../pipeline/support/upstream.ts'
import { openWorld } from '../../pipeline/support/world.ts'
import { assert, suite } from '../../support/suite.ts'

const test = suite('recorded rankings')

interface Ranked {
  index: number
  relevance_score: number
  document?: unknown
}

test('recorded vendor responses reach clients of each format unchanged', async () => {
  const exchanges = recordedExchanges(['rerank'])
  assert.ok(exchanges.length >= 5)
  for (const { name, url, request, response: reply } of exchanges) {
    const provider = url.includes('openrouter.ai') ? 'openrouter' : 'cohere'
    const { model = 'rerank-english-v2.0', ...body } = request as JsonObject
    const recorded = reply as { results: Ranked[]; meta?: JsonObject; usage?: JsonObject }
    const upstream = fakeUpstream(() => json(reply))
    const world = await openWorld({ fetch: upstream, catalog: defaultCatalog, connections: [provider] })
    const send = async (path: string, extra: JsonObject = {}) => {
      const response = await world.post(path, { ...body, model: `${provider}/${model}`, ...extra })
      assert.is(response.status, 200, `${name}: ${await response.clone().text()}`)
      return (await response.json()) as { results: Ranked[]; data: Ranked[]; meta: JsonObject }
    }
    const getScores = ({ results }: { results: Ranked[] }) => results.map(({ index, relevance_score: s }) => [index, s])

    const version = url.includes('/v1/') ? '/v1/rerank' : '/v2/rerank'
    const own = await send(version)
    assert.equal(getScores(own), getScores(recorded), name)
    if (recorded.meta) assert.equal(own.meta.billed_units, recorded.meta.billed_units, name)
    const shown = await send('/v1/rerank', { return_documents: true })
    const documents = body.documents as unknown[]
    assert.equal(
      shown.results.map(({ document }) => document),
      recorded.results.map(({ index }) => {
        const document = documents[index]
        return typeof document === 'string' ? { text: document } : document
      }),
    )
    const { data } = await send('/v1/rerank', { top_k: 1, top_n: null })
    assert.equal(getScores({ results: data }), getScores(recorded).slice(0, 1), name)
    const sent = JSON.parse(upstream.calls[1]?.body ?? '') as JsonObject
    assert.equal(sent.query, body.query)
    const { costUsd } = world.recorded.usages[0] ?? {}
    if (provider === 'openrouter') assert.is(costUsd, recorded.usage?.cost)
  }
})
