import { json, sse } from '../pipeline/support/upstream.ts'
import { assert, suite } from '../support/suite.ts'
import {
  type Counts,
  clients,
  completions,
  getData,
  getUsage,
  type ProviderName,
  providers,
  spendACent,
} from './support/reporting.ts'

const test = suite('usage reported as zero')

const ZERO: Counts = { input: 0, output: 0 }
const REAL: Counts = { input: 30, output: 150 }
const COST = (30 + 1_500) / 1e6

/** Each pair of client and provider, and legacy completions, which are never translated. */
const pairs = [
  ...Object.entries(providers).flatMap(([provider, speaking]) =>
    Object.entries(clients).map(([client, send]) => ({
      name: `${client} client, ${provider} provider`,
      speaking,
      send: (stream: boolean) => send(`${provider as ProviderName}/m`, stream),
    })),
  ),
  {
    name: 'completions',
    speaking: completions,
    send: (stream: boolean) =>
      ['/v1/completions', { model: 'chat/m', prompt: 'Say it twenty times.', stream, max_tokens: 900 }] as const,
  },
]

const assertNear = (tokens: number, wanted: number, label: string) =>
  assert.ok(tokens > wanted * 0.7 && tokens < wanted * 1.5, `${label}: ${tokens}, not about ${wanted}`)

for (const { name, speaking, send } of pairs) {
  test(`zeros don't count as usage of a long response (${name})`, async () => {
    for (const report of [speaking.usage(ZERO), {}])
      for (const stream of [false, true]) {
        const { counts, source, usd } = await getUsage(
          () => (stream ? speaking.stream([report]) : speaking.whole(report)),
          send(stream),
        )
        const label = `${stream ? 'streamed' : 'whole'}, ${JSON.stringify(report)}`
        assert.is(source, 'estimated', label)
        assertNear(counts.output, 200, label)
        assert.ok(counts.input >= 5 && counts.input < 200, `${label}: ${counts.input}`)
        assert.ok(Math.abs((usd ?? 0) - (counts.input + counts.output * 10) / 1e6) < 1e-9, label)
      }
  })

  test(`zeros before or after real usage change nothing (${name})`, async () => {
    if (speaking === providers.bedrock) return // its only usage report ends the stream
    const real = speaking.usage(REAL)
    for (const reports of [
      [real, speaking.usage(ZERO)],
      [speaking.usage({ ...REAL, output: 2 }), speaking.usage({ input: 0, output: 150 })],
      [speaking.usage(ZERO), real],
    ]) {
      const { counts, source, usd } = await getUsage(() => speaking.stream(reports), send(true))
      const isClaude = speaking === providers.claude && reports[0] === real // Claude's first report is preliminary
      assert.is(source, isClaude ? 'estimated' : 'counted', JSON.stringify(reports))
      if (isClaude) assert.is(counts.input, 30)
      else assert.equal([counts, usd], [REAL, COST], JSON.stringify(reports))
    }
  })

  test(`zeros for only the input are replaced by an estimate (${name})`, async () => {
    for (const stream of [false, true]) {
      const report = speaking.usage({ input: 0, output: 150 })
      const { counts, source } = await getUsage(
        () => (stream ? speaking.stream([report]) : speaking.whole(report)),
        send(stream),
      )
      assert.equal([counts.output, source], [150, 'estimated'])
      assert.ok(counts.input >= 5 && counts.input < 200, `${counts.input}`)
    }
  })

  test(`zeros for the output next to real input count as real usage (${name})`, async () => {
    for (const reported of [REAL, { input: 30, output: 0 }])
      for (const stream of [false, true]) {
        const report = speaking.usage(reported)
        const { counts, source } = await getUsage(
          () => (stream ? speaking.stream([report]) : speaking.whole(report)),
          send(stream),
        )
        assert.equal([counts, source], [reported, 'counted'])
      }
  })
}

for (const { name, speaking, send } of pairs) {
  test(`estimated usage stops a key with a daily budget of one cent (${name})`, async () => {
    for (const stream of [false, true]) {
      const report = speaking.usage(ZERO)
      const statuses = await spendACent(
        () => (stream ? speaking.stream([report]) : speaking.whole(report)),
        send(stream),
      )
      assert.ok([402, 429].includes(statuses.at(-1) ?? 0), `${stream}: ${statuses}`)
    }
  })
}

test("zeros don't count as usage of an image response", async () => {
  const url = `data:image/png;base64,${'QUJD'.repeat(400)}`
  const message = { role: 'assistant', content: '', images: [{ type: 'image_url', image_url: { url } }] }
  const created = { type: 'image_generation_call', id: 'i', status: 'completed', result: 'QUJD' }
  const shown: ReadonlyArray<readonly [provider: string, answer: object]> = [
    [
      'chat',
      {
        choices: [{ index: 0, message, finish_reason: 'stop' }],
        usage: providers.chat.usage(ZERO),
      },
    ],
    [
      'open',
      { id: 'r', object: 'response', status: 'completed', output: [created], usage: providers.open.usage(ZERO) },
    ],
    [
      'google',
      {
        candidates: [
          {
            index: 0,
            content: { parts: [{ inlineData: { mimeType: 'image/png', data: 'QUJD' } }] },
            finishReason: 'STOP',
          },
        ],
        usageMetadata: providers.google.usage(ZERO),
      },
    ],
  ]
  for (const [provider, response] of shown)
    for (const [client, send] of Object.entries(clients)) {
      const { counts, source } = await getUsage(() => json(response), send(`${provider}/m`, false))
      assert.is(source, 'estimated', `${client}, ${provider}`)
      assert.ok(counts.output > 1_000, `${client}, ${provider}: ${counts.output}`)
    }
  const events = [
    getData({ choices: [{ index: 0, delta: message, finish_reason: null }] }),
    getData({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: providers.chat.usage(ZERO) }),
    'data: [DONE]\n\n',
  ]
  for (const [client, send] of Object.entries(clients)) {
    const { counts, source } = await getUsage(() => sse(events), send('chat/m', true))
    assert.equal([source, counts.output > 1_000], ['estimated', true], client)
  }
})

test('zeros count as real usage of an empty response', async () => {
  for (const [provider, speaking] of Object.entries({ ...providers, completions })) {
    if (provider === 'google') continue // Gemini itself never reports zeros
    const [path, body] =
      provider === 'completions'
        ? (['/v1/completions', { model: 'chat/m', prompt: 'Hi' }] as const)
        : (clients.messages?.(`${provider}/m`, false) ?? ['', {}])
    const report = speaking.usage(ZERO)
    const full = await getUsage(() => speaking.whole(report, ''), [path, body])
    assert.equal([full.counts, full.source, full.usd], [ZERO, 'counted', 0], provider)
    const streamed = await getUsage(() => speaking.stream([report], ''), [path, { ...body, stream: true }])
    assert.equal([streamed.counts, streamed.source, streamed.usd], [ZERO, 'counted', 0], `${provider}, streamed`)
  }
})
