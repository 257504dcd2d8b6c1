import { isGatewayError } from '../../../src/errors.ts'
import { isObject, type JsonObject } from '../../../src/lib/json.ts'
import { converseTranslator } from '../../../src/protocols/formats/bedrock-converse/converse-translator.ts'
import { prepareRequest } from '../../../src/protocols/formats/canonical/prepare/prepare.ts'
import { getSharedFormat } from '../../../src/protocols/formats/formats.ts'
import { getTraits } from '../../../src/protocols/providers/provider-traits.ts'
import type { WireFormat } from '../../../src/types.ts'
import { isCi } from '../../support/ci.ts'
import { assert, suite } from '../../support/suite.ts'
import { contexts } from '../support/contexts.ts'
import { recordedExchanges } from '../support/recordings.ts'
import { brokenRules } from './support/converse-rules.ts'

const test = suite('recorded Converse requests')

/** The folders with requests in a format, and the minimum number of requests that Converse supports. */
const sources: [format: WireFormat, folders: string[], least: number][] = [
  ['openai-chat', ['openai-chat', 'openai-compatible'], 700],
  ['anthropic-messages', ['anthropic'], 250],
]

const models = [
  'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
  'amazon.nova-pro-v1:0',
  'meta.llama3-3-70b-instruct-v1:0',
]

/** Returns all models in CI, and a single model per request locally. */
const getModels = (request: number) => (isCi ? models : models.slice(request % models.length).slice(0, 1))

for (const [format, folders, least] of sources) {
  test(`requests from ${format} clients follow Converse's rules`, async () => {
    const client = await getSharedFormat(format)?.loadTranslator()
    assert.ok(client)
    const counts = { written: 0, refused: 0 }
    for (const [index, { name, request }] of recordedExchanges(folders).entries()) {
      if (!isObject(request) || !Array.isArray(request.messages)) continue
      for (const model of getModels(index)) {
        const { warnings } = contexts(client)
        const target = { provider: 'bedrock', model, format: 'bedrock-converse' } as const
        const traits = getTraits(converseTranslator.traits, target, {})
        const context = { model, traits, origin: { format: target.format, account: 'a' }, warnings }
        try {
          const input = client.parseRequest(structuredClone(request), { warnings })
          const { request: prepared } = prepareRequest(input, {
            ...context,
            supportedOptions: converseTranslator.supportedOptions,
          })
          const { body }: { body: JsonObject } = converseTranslator.writeRequest(prepared, context)
          assert.equal(brokenRules(JSON.parse(JSON.stringify(body))), [], `${name} ${model}`)
          counts.written++
        } catch (error) {
          if (!isGatewayError(error, 'INVALID_REQUEST')) throw error
          counts.refused++
        }
      }
    }
    assert.ok(counts.written > least * getModels(0).length, JSON.stringify(counts))
  })
}
