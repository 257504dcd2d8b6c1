import { wireFormats } from '../../../src/types/unions.ts'
import type { Catalog } from '../../../src/types.ts'
import { clients } from '../../formats/support/clients.ts'
import { converseFrames, exceptionFrame } from '../../formats/support/event-stream.ts'
import { assert, suite } from '../../support/suite.ts'
import { questions } from '../support/sample-requests.ts'
import { bodyOf, fakeUpstream } from '../support/upstream.ts'
import { openWorld } from '../support/world.ts'

const test = suite('Converse streams that break off')

const catalog: Catalog = { bedrock: { cloud: 'bedrock', format: 'bedrock-converse' } }
const connections = [{ provider: 'bedrock', providerSpecificData: { region: 'us-east-1' } }]

const begun = converseFrames().slice(0, 3)

/** The ways in which streams break off, and their error messages. */
const breaks: Record<string, [chunks: Uint8Array[], words: RegExp]> = {
  'between two frames': [begun, /before the response was complete/],
  'within a frame': [
    [...begun, (converseFrames()[3] ?? new Uint8Array()).subarray(0, 50)],
    /before the response was complete/,
  ],
  'with an exception': [
    [...begun, exceptionFrame('modelStreamErrorException', 'The model failed.')],
    /The model failed\./,
  ],
  'with a damaged frame': [[...begun, (converseFrames()[3] ?? new Uint8Array()).map((byte) => byte ^ 1)], /corrupt/],
}

for (const [how, [chunks, words]] of Object.entries(breaks)) {
  for (const format of wireFormats) {
    test(`a Converse stream that breaks off ${how} ends with an error (${format} client)`, async () => {
      const headers = { 'content-type': 'application/vnd.amazon.eventstream' }
      const upstream = fakeUpstream(() => new Response(bodyOf(chunks), { headers }))
      const world = await openWorld({ fetch: upstream, catalog, connections })
      const response = await world.post(...questions[format]('bedrock/amazon.nova-pro-v1:0', true))
      assert.is(response.status, 200)
      const [whole, received] = [response.clone(), clients[format](response)]
      assert.match(await whole.text(), words)
      assert.ok((await received.catch((error: unknown) => error)) instanceof Error)
      assert.is(upstream.open, 0)
    })
  }
}
