import { wireFormats } from '../../../src/types/unions.ts'
import type { Catalog } from '../../../src/types.ts'
import { clients } from '../../formats/support/clients.ts'
import { converseFrames, exceptionFrame } from '../../formats/support/event-stream.ts'
import { assert, suite } from '../../support/suite.ts'
import { questions } from '../support/sample-requests.ts'
import { fakeUpstream, getBody } from '../support/upstream.ts'
import { openWorld } from '../support/world.ts'

const test = suite('Converse streams that break off')

const catalog: Catalog = { bedrock: { cloud: 'bedrock', format: 'bedrock-converse' } }
const connections = [{ provider: 'bedrock', providerSpecificData: { region: 'us-east-1' } }]

const started = converseFrames().slice(0, 3)

/** The ways in which streams break off, with their error messages. */
const breaks: Record<string, [chunks: Uint8Array[], words: RegExp]> = {
  'between two frames': [started, /before the response was complete/],
  'within a frame': [
    [...started, (converseFrames()[3] ?? new Uint8Array()).subarray(0, 50)],
    /before the response was complete/,
  ],
  'with an exception': [
    [...started, exceptionFrame('modelStreamErrorException', 'The model failed.')],
    /The model failed\./,
  ],
  'with a damaged frame': [[...started, (converseFrames()[3] ?? new Uint8Array()).map((byte) => byte ^ 1)], /corrupt/],
}

for (const [mode, [chunks, words]] of Object.entries(breaks)) {
  for (const format of wireFormats) {
    test(`a Converse stream that breaks off ${mode} ends with an error (${format} client)`, async () => {
      const headers = { 'content-type': 'application/vnd.amazon.eventstream' }
      const upstream = fakeUpstream(() => new Response(getBody(chunks), { headers }))
      const world = await openWorld({ fetch: upstream, catalog, connections })
      const response = await world.post(...questions[format]('bedrock/amazon.nova-pro-v1:0', true))
      assert.is(response.status, 200)
      const [fullResponse, received] = [response.clone(), clients[format](response)]
      assert.match(await fullResponse.text(), words)
      assert.ok((await received.catch((error: unknown) => error)) instanceof Error)
      assert.is(upstream.open, 0)
    })
  }
}
