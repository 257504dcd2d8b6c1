import { wireFormats } from '../../src/types/unions.ts'
import type { WireFormat } from '../../src/types.ts'
import { longStreams } from '../formats/support/long-streams.ts'
import { assert, suite } from '../support/suite.ts'
import { streamCatalog, streamRequests } from './support/streams.ts'
import { fakeUpstream, sse } from './support/upstream.ts'
import { openWorld } from './support/world.ts'

const EVENTS_A_READ = 12

const test = suite('translated stream chunks')

for (const provider of wireFormats)
  for (const client of wireFormats.filter((format) => format !== provider))
    test(`the client gets one complete chunk for each provider chunk (${provider} provider, ${client} client)`, async () => {
      const reads = getReads(provider)
      let taken = 0
      function* countChunks() {
        for (const read of reads) {
          taken += 1
          yield read
        }
      }
      const world = await openWorld({
        fetch: fakeUpstream(() => sse(countChunks())),
        catalog: streamCatalog,
        connections: [provider],
      })
      const [path, body] = streamRequests[client](`${provider}/m`)
      const response = await world.post(path, body)
      assert.is(response.status, 200)
      assert.is(response.headers.get('x-signalbox-target'), `${provider}/m`)
      const seen: Array<{ taken: number; words: number }> = []
      const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
      let text = ''
      for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) {
        text += part.value
        seen.push({ taken, words: getWords(text) })
      }
      const expected = reads.map((_, index) => ({
        taken: index + 1,
        words: getWords(reads.slice(0, index + 1).join('')),
      }))
      const end = { taken: reads.length, words: getWords(reads.join('')) }
      assert.equal(seen, provider === 'gemini' ? [...expected, end] : expected) // its end marker is the end of the body
    })

/** Returns a format's long stream including its end marker, with several events per read. */
function getReads(format: WireFormat): string[] {
  const events = longStreams[format].map(
    ([event, payload]) => `${event ? `event: ${event}\n` : ''}data: ${JSON.stringify(payload)}\n\n`,
  )
  if (format === 'openai-chat') events.push('data: [DONE]\n\n')
  const reads: string[] = []
  for (let index = 0; index < events.length; index += EVENTS_A_READ)
    reads.push(events.slice(index, index + EVENTS_A_READ).join(''))
  return reads
}

/** Returns how many distinct words of the long streams occur in a text. */
const getWords = (text: string) => new Set(text.match(/also the word \d+/g)).size
