import { wireFormats } from '../../src/types/unions.ts'
import type { Catalog } from '../../src/types.ts'
import { assert, suite } from '../support/suite.ts'
import { getChunks, rawUpstream } from './support/raw.ts'
import { questions } from './support/sample-requests.ts'
import { openWorld } from './support/world.ts'

const test = suite('statuses outside the HTTP range')

const catalog: Catalog = {
  'openai-chat': { baseUrl: 'http://chat.test/v1' },
  'openai-responses': { baseUrl: 'http://responses.test/v1', format: 'openai-responses' },
  'anthropic-messages': { baseUrl: 'http://claude.test/v1', format: 'anthropic-messages' },
  gemini: { baseUrl: 'http://google.test/v1', format: 'gemini' },
  'bedrock-converse': { cloud: 'bedrock', format: 'bedrock-converse' },
}

const connections = Object.keys(catalog).map((provider) => ({
  provider,
  apiKey: 'a-credential-0123456789',
  ...(provider === 'bedrock-converse' && { providerSpecificData: { region: 'us-east-1' } }),
}))

const bodies = [
  '',
  'down',
  '<html>down</html>',
  '{"error":{"message":"odd","code":700,"type":"server_error","status":"INTERNAL"}}',
  '{"type":"error","error":{"type":"api_error","message":"odd"}}',
  '{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}',
  '{"error":{"message":"prompt is too long: 9 tokens > 8 maximum","type":"invalid_request_error"}}',
  '{"error":{"message":"Incorrect API key provided","code":"invalid_api_key"}}',
  '{"error":{"message":"The model `m` does not exist","code":"model_not_found"}}',
]

for (const provider of Object.keys(catalog)) {
  for (const format of wireFormats) {
    test(`an invalid HTTP status returns a 502, streamed or not (${provider} provider, ${format} client)`, async () => {
      for (const status of [600, 700, 999]) {
        for (const body of bodies) {
          const chunks = () => getChunks(body === '' ? [] : [new TextEncoder().encode(body)])
          for (const stream of [false, true]) {
            const fetch = rawUpstream(chunks, { status, contentType: 'application/json' })
            const world = await openWorld({ fetch, catalog, connections })
            const response = await world.post(...questions[format](`${provider}/m`, stream))
            const { error } = await response.json()
            assert.is(response.status, 502, `${status} ${body}: ${JSON.stringify(error)}`)
            if (format === 'gemini' && provider !== 'gemini') assert.ok(error.code < 600, JSON.stringify(error))
            assert.equal([world.recorded.requests[0]?.status, world.recorded.errors], [502, []])
          }
        }
      }
    })
  }
}
