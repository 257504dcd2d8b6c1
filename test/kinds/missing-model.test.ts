import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createGateway } from '../../src/gateway.ts'
import { endpoints } from '../../src/protocols/kinds/kinds.ts'
import { defaultCatalog } from '../../src/protocols/providers/catalog.ts'
import { watchfulLogger } from '../support/canaries.ts'

import { assert, suite } from '../support/suite.ts'
import { getSample } from './samples.ts'

const test = suite('requests without a model')

test("each endpoint's error suggests a catalog model of the right kind", async () => {
  const gateway = createGateway({ storage: memoryStorage(), logger: watchfulLogger() })
  let checked = 0
  for (const endpoint of endpoints) {
    const { path, operation, headers } = endpoint
    if (path.includes(':')) continue
    const reply = await gateway.fetch(
      new Request(`http://gateway.test${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(headers?.version && { [headers.version]: '4' }) },
        body: JSON.stringify(getSample(endpoint)?.body ?? { messages: [] }),
      }),
    )
    const text = await reply.text()
    const [, provider = '', id = ''] = /such as \\?"([\w-]+)\/([\w.-]+)\\?", an alias/.exec(text) ?? []
    if (reply.status !== 400 || provider === '') continue // the endpoint's format reports another missing field first
    checked++
    const { models = [], searchConfig, fetchConfig } = defaultCatalog[provider] ?? {}
    const kind =
      id === 'search' && searchConfig
        ? 'webSearch'
        : id === 'fetch' && fetchConfig
          ? 'webFetch'
          : (models.find((model) => model.id === id)?.type ?? 'llm')
    const serves = [operation.kind, ...(operation.alsoServes ?? [])]
    assert.ok(serves.includes(kind) || (operation.name === 'ocr' && id.includes('ocr')), `${path}: ${text}`)
  }
  assert.ok(checked > 12, `${checked}`)
})
