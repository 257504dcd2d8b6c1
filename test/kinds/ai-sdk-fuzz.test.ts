import { fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { openWorld } from '../pipeline/support/world.ts'
import { createRandom } from '../support/random.ts'
import { assert, suite } from '../support/suite.ts'
import { png } from './image/images.ts'
import { answerAt } from './samples.ts'

const test = suite('AI SDK images, speech, and transcription with arbitrary bodies')

const TIMES = process.env.CI ? 3_000 : 200
const file = { type: 'file', mediaType: 'image/png', data: png }
const bodies: Record<string, Record<string, unknown>> = {
  image: {
    prompt: 'a',
    n: 1,
    size: '8x8',
    aspectRatio: '1:1',
    seed: 1,
    files: [file],
    mask: file,
    providerOptions: { openai: {} },
  },
  speech: {
    text: 'a',
    voice: 'v',
    outputFormat: 'mp3',
    instructions: 'i',
    speed: 1,
    language: 'en',
    providerOptions: {},
  },
  transcription: {
    audio: 'AAAA',
    mediaType: 'audio/wav',
    timestampGranularities: ['word'],
    providerOptions: { openai: {} },
  },
}

const values: unknown[] = [
  ...[null, 0, -1, 1e308, 9_007_199_254_740_991, 1.5, '', 'x', '*', 'AAA', true, [], [[]], [null], {}, { a: 1 }, [{}]],
  ...[
    { type: 'url' },
    { type: 'url', url: 'http://x' },
    { type: 'file', data: '*' },
    { type: 'file', data: 'AAAA' },
    [file, 7],
  ],
  ...[
    { openai: null },
    { openai: 7 },
    { openai: { quality: 7, imageConfig: 7 } },
    { a: { timestampGranularities: 7 } },
  ],
  ...[
    { a: { prompt: 7 } },
    { a: { temperature: 9 } },
    { a: { model: 'x', n: 9, stream: true, baseUrl: 'http://evil.test' } },
  ],
]

for (const [name, body] of Object.entries(bodies))
  test(`arbitrary bodies for ${name} never cause a gateway error or reach another URL`, async () => {
    const random = createRandom(11)
    const upstream = fakeUpstream(({ url }) => answerAt(url.pathname) ?? json({}, 404))
    const { post, recorded } = await openWorld({ fetch: upstream, connections: ['one'] })
    const seen = new Set<number>()
    for (let times = 0; times < TIMES; times++) {
      const strange = { ...body }
      for (const member of Object.keys(body))
        if (random.below(3) === 0) strange[member] = values[random.below(values.length)]
      const response = await post(`/v4/ai/${name}-model`, strange, { headers: { 'ai-model-id': 'one/of-any-kind' } })
      seen.add(response.status)
      assert.ok(
        response.status < 500,
        `${response.status} ${JSON.stringify(strange).slice(0, 300)} ${await response.text()}`,
      )
    }
    assert.ok(seen.has(200) && seen.has(400), [...seen].join(', '))
    for (const { url } of upstream.calls) assert.is(url.host, 'one.test')
    assert.equal(recorded.errors, [])
  })
