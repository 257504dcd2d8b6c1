import { concatBytes } from '../../src/lib/bytes.ts'
import { serializeForm } from '../../src/lib/multipart.ts'
import type { Catalog, Price } from '../../src/types.ts'
import { type Call, fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { openWorld } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'
import { createRecording, flac, m4a, mp3, ogg, wav, webm } from './audio-files.ts'

const test = suite('audio budgets')

const PARALLEL = 50
const catalog: Catalog = {
  one: {
    baseUrl: 'http://one.test/v1',
    models: [
      { id: 'speaks', type: 'tts' },
      { id: 'hears', type: 'stt' },
    ],
  },
}

/** Creates a key with a budget of one dollar, and a provider that responds once all requests have arrived. */
async function budgeted(model: string, price: Price, respond: (call: Call) => Response) {
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const upstream = fakeUpstream(async (call) => {
    await released
    return respond(call)
  })
  const world = await openWorld({
    fetch: upstream,
    catalog,
    connections: [{ provider: 'one', prices: { [model]: price } }],
  })
  const { key } = await world.api.keys.create({ name: 'alice', limits: { usd: { total: 1 } } })
  const headers = { authorization: `Bearer ${key}` }
  /** Returns the statuses of concurrent requests, and their total cost. */
  async function sendAll(send: (headers: Record<string, string>) => Promise<Response>) {
    let replied = 0
    const all = Array.from({ length: PARALLEL }, async () => {
      const response = await send(headers)
      replied++
      return response
    })
    while (upstream.calls.length + replied < PARALLEL) await new Promise((resolve) => setTimeout(resolve, 1))
    release()
    const statuses = await Promise.all(
      all.map(async (requested) => {
        const response = await requested
        await response.arrayBuffer()
        return response.status
      }),
    )
    const usd = world.recorded.usages.reduce((sum, { costUsd = Number.NaN }) => sum + costUsd, 0)
    return { answered: statuses.filter((status) => status === 200).length, statuses: new Set(statuses), usd }
  }
  return { ...world, sendAll, up: upstream }
}

const audio = () => new Response(new Uint8Array(2_000), { headers: { 'content-type': 'audio/mpeg' } })

const speakers: Record<string, Price> = {
  'by character': { character: 0.0001 },
  'by unreported tokens': { input: 1, output: 100 },
}

for (const [label, price] of Object.entries(speakers))
  test(`50 concurrent speech requests don't exceed a budget, charged ${label}`, async () => {
    const { sendAll, gateway, recorded: events } = await budgeted('speaks', price, audio)
    const input = 'Words that are spoken. '.repeat(40)
    const { answered, statuses, usd } = await sendAll((headers) =>
      gateway.fetch(
        new Request('http://gateway/v1/audio/speech', {
          method: 'POST',
          headers: { ...headers, 'content-type': 'application/json' },
          body: JSON.stringify({ model: 'one/speaks', input, voice: 'alloy' }),
        }),
      ),
    )
    assert.equal([...statuses].sort(), [200, 429]) // 429, because in-flight requests may soon release their reservations
    assert.ok(answered > 0 && answered < PARALLEL, `${answered}`)
    assert.ok(usd > 0.05 && usd <= 1, `${usd}`)
    assert.is(events.usages[0]?.costSource, label.includes('unreported') ? 'estimated' : 'counted')
  })

/** Files with 60 s of audio each. */
const files = { wav: wav(60), mp3: mp3(60), flac: flac(60), ogg: ogg(60), m4a: m4a(60), webm: webm(60) }

for (const [format, bytes] of Object.entries(files))
  for (const response_format of ['verbose_json', 'text'])
    test(`50 concurrent ${format} files with ${response_format} responses don't exceed a budget`, async () => {
      const {
        sendAll,
        gateway,
        recorded: events,
      } = await budgeted('hears', { second: 0.002 }, () =>
        response_format === 'text'
          ? new Response('Hi\n', { headers: { 'content-type': 'text/plain' } })
          : json({ text: 'Hi', duration: 60, segments: [] }),
      )
      const { answered, statuses, usd } = await sendAll((headers) => {
        const form = serializeForm([
          { name: 'model', value: 'one/hears' },
          { name: 'response_format', value: response_format },
          { name: 'file', fileName: `a.${format}`, type: `audio/${format}`, bytes },
        ])
        return gateway.fetch(
          new Request('http://gateway/v1/audio/transcriptions', {
            method: 'POST',
            headers: { ...headers, 'content-type': form.contentType },
            body: form.bytes as BodyInit,
          }),
        )
      })
      assert.equal([...statuses].sort(), [200, 429]) // 429, because in-flight requests may soon release their reservations
      assert.is(answered, 8)
      assert.ok(Math.abs(usd - 0.96) < 0.01, `${usd}`)
      assert.is(events.usages[0]?.costSource, 'counted')
    })

test('a browser recording without a duration reserves by size and is charged an estimate', async () => {
  const { sendAll, gateway, recorded: events } = await budgeted('hears', { second: 0.002 }, () => json({ text: 'Hi' }))
  const { answered, usd } = await sendAll((headers) => {
    const form = serializeForm([
      { name: 'model', value: 'one/hears' },
      { name: 'file', fileName: 'a.webm', type: 'audio/webm', bytes: createRecording(60_000) },
    ])
    return gateway.fetch(
      new Request('http://gateway/v1/audio/transcriptions', {
        method: 'POST',
        headers: { ...headers, 'content-type': form.contentType },
        body: form.bytes as BodyInit,
      }),
    )
  })
  assert.is(answered, 6) // 80 s each, at an assumed 6 kbit/s
  assert.ok(Math.abs(usd - 6 * 15 * 0.002) < 1e-9, `${usd}`)
  assert.is(events.usages[0]?.costSource, 'estimated')
})

test('base64 audio is covered by a reservation based on its size', async () => {
  const { sendAll, gateway } = await budgeted('hears', { second: 0.002 }, () => json({ text: 'Hi', duration: 60 }))
  const data = Buffer.from(ogg(60)).toString('base64')
  const { answered, usd } = await sendAll((headers) =>
    gateway.fetch(
      new Request('http://gateway/v1/audio/transcriptions', {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'one/hears', input_audio: { data, format: 'ogg' } }),
      }),
    ),
  )
  assert.ok(answered > 0 && usd <= 1, `${answered} ${usd}`)
})

test('reads audio durations from file headers at any byte offset, and tolerates truncated files', async () => {
  const { getDuration: getSeconds } = await import('../../src/protocols/kinds/sound/audio-duration.ts')
  for (const [format, bytes] of Object.entries(files)) {
    assert.ok(Math.abs((getSeconds(bytes) ?? 0) - 60) < 0.1, `${format}: ${getSeconds(bytes)}`)
    assert.is(getSeconds(concatBytes([new Uint8Array(7), bytes]).subarray(7)), getSeconds(bytes), format)
    for (let length = 0; length < Math.min(400, bytes.length); length++) getSeconds(bytes.subarray(0, length))
  }
  assert.is(getSeconds(createRecording(1_000)), undefined)
})
