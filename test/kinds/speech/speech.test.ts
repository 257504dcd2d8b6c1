import { concatBytes, encodeUtf8, fromBase64, toBase64 } from '../../../src/lib/bytes.ts'
import { getDuration } from '../../../src/protocols/kinds/sound/audio-duration.ts'
import { writeWavHeader } from '../../../src/protocols/kinds/sound/wav.ts'
import { type Call, fakeUpstream, getBody, json, never, sse } from '../../pipeline/support/upstream.ts'
import { openWorld } from '../../pipeline/support/world.ts'
import { assert, suite } from '../../support/suite.ts'
import { samples, soundVendors, vendorCatalog } from './vendors.ts'

const test = suite('speech')

const AT = '/v1/audio/speech'
const requestOptions = { input: 'Grüße 👋', voice: 'alloy' }
async function assertRejects(promise: Promise<unknown>): Promise<void> {
  const outcome = await promise.then(
    () => 'resolved',
    () => 'rejected',
  )
  assert.is(outcome, 'rejected')
}

const readAll = async (response: Response) => new Uint8Array(await response.arrayBuffer())
const open = (respond: (call: Call, nth: number) => Response | Promise<Response>, extra = {}) => {
  const upstream = fakeUpstream(respond)
  return openWorld({ fetch: upstream, catalog: vendorCatalog, connections: Object.keys(soundVendors), ...extra }).then(
    (world) => ({
      ...world,
      upstream,
    }),
  )
}
const createResponse = (call: Call) =>
  soundVendors[call.provider]?.respond(call) ?? json({ error: { message: 'no vendor' } }, 404)

for (const [provider, vendor] of Object.entries(soundVendors))
  for (const [format, { type, bytes, warning }] of Object.entries(vendor.formats)) {
    test(`${provider} returns ${format}`, async () => {
      const { post, recorded } = await open(createResponse)
      const response = await post(AT, { ...requestOptions, model: `${provider}/voice-model`, response_format: format })
      const audio = await readAll(response)
      assert.is(response.status, 200, new TextDecoder().decode(audio))
      assert.is(response.headers.get('content-type'), type)
      assert.is(getSound(audio), getSound(bytes))
      const warnings = response.headers.get('x-signalbox-warning') ?? ''
      assert.is(warnings.includes('replaced:response_format'), warning === true, warnings)
      assert.equal(recorded.errors, [])
      const [usage] = recorded.usages
      assert.ok((usage?.units?.character ?? 0) === 7 || (usage?.outputTokens ?? 0) > 0, JSON.stringify(usage))
    })

    test(`${provider} streams ${format} in events`, async () => {
      const { post } = await open(createResponse)
      const body = {
        ...requestOptions,
        model: `${provider}/voice-model`,
        response_format: format,
        stream_format: 'sse',
      }
      const response = await post(AT, body)
      assert.match(response.headers.get('content-type') ?? '', /^text\/event-stream/)
      const events = getEvents(await response.text())
      assert.is(events.at(-1)?.type, 'speech.audio.done')
      assert.ok(Number.isInteger(events.at(-1)?.usage?.total_tokens))
      const sound = concatBytes(events.slice(0, -1).map(({ audio }) => fromBase64(audio ?? '')))
      assert.is(getSound(sound), getSound(bytes))
    })
  }

/** Removes the lengths from a WAV file's header, because they aren't known during streaming. */
const getSound = (bytes: Uint8Array) =>
  toBase64(bytes[0] === 0x52 ? bytes.subarray(8) : bytes).replace(/(?<=^.{40}).{8}/, '')

interface SpeechEvent {
  type?: string
  audio?: string
  usage?: { total_tokens: number }
  error?: { message: string }
}

const getEvents = (text: string): SpeechEvent[] =>
  text
    .split('\n\n')
    .filter(Boolean)
    .map((event) => JSON.parse(event.replace('data: ', '')))

test('an unsupported speech format falls back to another vendor, or fails with a 400', async () => {
  const combos = { pair: { models: ['groq/voice-model', 'elevenlabs/voice-model'], kind: 'tts' as const } }
  const { post, upstream } = await open(createResponse, { combos })
  const rejected = await post(AT, { ...requestOptions, model: 'groq/voice-model', response_format: 'pcm' })
  assert.is(rejected.status, 400)
  assert.match(await rejected.text(), /"response_format\\": groq\/voice-model does not support \\"pcm\\"/)
  const response = await post(AT, { ...requestOptions, model: 'pair', response_format: 'pcm' })
  assert.is(response.headers.get('x-signalbox-target'), 'elevenlabs/voice-model')
  assert.equal(upstream.providers, ['elevenlabs'])
  const strict = { headers: { 'x-signalbox-strict': 'true' } }
  assert.is(
    (await post(AT, { ...requestOptions, model: 'groq/voice-model', response_format: 'aac' }, strict)).status,
    400,
  )
})

test("the combo entry's voice mapping takes precedence over the connection's", async () => {
  const connections = [
    'deepgram',
    { provider: 'elevenlabs', providerSpecificData: { voices: { alloy: 'voice-of-connection' } } },
  ]
  const models = [{ model: 'elevenlabs/voice-model', voices: { alloy: 'voice-of-entry' } }]
  const { post, upstream } = await open(createResponse, {
    connections,
    combos: { said: { models, kind: 'tts' as const } },
  })
  const voiceFor = async (model: string, voice?: string) => {
    const response = await post(AT, { input: 'Hi', model, voice })
    await response.text()
    return [upstream.calls.at(-1)?.url.pathname.split('/')[3], response.headers.get('x-signalbox-warning')]
  }
  assert.equal(await voiceFor('elevenlabs/voice-model', 'alloy'), ['voice-of-connection', null])
  assert.equal(await voiceFor('said', 'alloy'), ['voice-of-entry', null])
  assert.equal(await voiceFor('elevenlabs/voice-model', 'nova'), ['21m00Tcm4TlvDq8ikWAM', 'replaced:voice'])
  assert.equal(await voiceFor('elevenlabs/voice-model', 'own-voice'), ['own-voice', null])
  assert.equal(await voiceFor('elevenlabs/voice-model'), ['21m00Tcm4TlvDq8ikWAM', null])
})

test("a voice that a vendor doesn't support causes a warning, and is rejected in strict mode", async () => {
  const cases: ReadonlyArray<readonly [model: string, members: object, sent: string, warning: string | null]> = [
    ['aura-2-thalia-en', { voice: 'orion' }, 'aura-2-thalia-en', 'replaced:voice'],
    ['aura-2-thalia-en', { voice: 'my-own' }, 'aura-2-thalia-en', 'replaced:voice'],
    ['aura-2-thalia-en', { voice: 'alloy' }, 'aura-2-thalia-en', 'replaced:voice'],
    ['aura-2-thalia-en', { voice: 'thalia' }, 'aura-2-thalia-en', null],
    ['aura-2-thalia-en', { voice: 'aura-2-thalia-en' }, 'aura-2-thalia-en', null],
    ['aura-2-thalia-en', { voice: 'aura-2-orion-en' }, 'aura-2-orion-en', null],
    ['aura-2-thalia-en', {}, 'aura-2-thalia-en', null],
    ['aura-2-thalia-en', { language: 'en-US' }, 'aura-2-thalia-en', null],
    ['aura-2-thalia-en', { language: 'fr' }, 'aura-2-thalia-en', 'dropped:language'],
    ['aura-2', { voice: 'Orion' }, 'aura-2-orion-en', null],
    ['aura-2', { voice: 'not a voice!' }, 'aura-2-thalia-en', 'replaced:voice'],
  ]
  for (const [model, members, sent, warning] of cases) {
    const { post, upstream } = await open(() => stream([samples.mp3]))
    const body = { input: 'Hi', model: `deepgram/${model}`, ...members }
    const response = await post(AT, body)
    await response.arrayBuffer()
    const label = JSON.stringify(body)
    assert.is(upstream.calls[0]?.url.searchParams.get('model'), sent, label)
    assert.is(response.headers.get('x-signalbox-warning'), warning, label)
    const strict = await post(AT, body, { headers: { 'x-signalbox-strict': 'true' } })
    assert.is(strict.status, warning === null ? 200 : 400, label)
  }
})

test("an OpenAI voice is replaced by the model's own voice", async () => {
  const cases = {
    'mistral/voxtral-mini-tts-latest': 'en_paul_neutral',
    'groq/canopylabs/orpheus-v1-english': 'troy',
    'groq/canopylabs/orpheus-arabic-saudi': 'fahad',
    'together/canopylabs/orpheus-3b-0.1-ft': 'tara',
    'openrouter/openai/gpt-4o-mini-tts': 'alloy',
    'openrouter/mistralai/voxtral-mini-tts-2603': 'en_paul_neutral',
  }
  for (const [model, voice] of Object.entries(cases)) {
    const { post, upstream } = await open(createResponse)
    const response = await post(AT, { input: 'Hi', voice: 'alloy', model, response_format: 'wav' })
    assert.is(response.status, 200, model)
    const { voice: sent, voice_id: id } = JSON.parse(upstream.calls[0]?.body ?? '')
    assert.is(id ?? sent, voice)
    assert.is(response.headers.get('x-signalbox-warning')?.includes('replaced:voice') ?? false, voice !== 'alloy')
  }
})

test('a rejected voice, format, or length falls back to the next target', async () => {
  const refusals: Record<string, () => Response> = {
    'a voice': () => json({ detail: [{ loc: ['body', 'voice_id'], msg: 'Invalid voice', type: 'value_error' }] }, 422),
    'an unknown voice': () => json({ detail: { status: 'voice_not_found', message: 'No such voice' } }, 404),
    'a text that is too long': () =>
      json({ error: { message: 'input: String should have at most 4096 characters' } }, 400),
    'a request that is too large': () => json({ error: { message: 'Request Entity Too Large' } }, 413),
  }
  for (const [label, refusal] of Object.entries(refusals)) {
    const combos = { pair: { models: ['mistral/voice-model', 'deepgram/voice-model'], kind: 'tts' as const } }
    const { post, upstream } = await open((call) => (call.provider === 'mistral' ? refusal() : createResponse(call)), {
      combos,
    })
    const response = await post(AT, { input: 'Hi', voice: 'my-voice', model: 'pair' })
    assert.is(response.status, 200, label)
    assert.equal(upstream.providers, ['mistral', 'deepgram'], label)
    const alone = await post(AT, { input: 'Hi', voice: 'my-voice', model: 'mistral/voice-model' })
    assert.is(alone.status, refusal().status, label)
  }
})

test("a speech format that OpenAI doesn't support is replaced", async () => {
  const { post, upstream } = await open(createResponse)
  const response = await post(AT, { ...requestOptions, model: 'openai/voice-model', response_format: 'ogg' })
  assert.is(response.headers.get('x-signalbox-warning'), 'replaced:response_format')
  assert.is(JSON.parse(upstream.calls[0]?.body ?? '').response_format, 'mp3')
})

test('only the voice changes in a passed-through speech request', async () => {
  const connections = [{ provider: 'openai', providerSpecificData: { voices: { alloy: 'verse' } } }]
  const { post, upstream } = await open(createResponse, { connections })
  await post(AT, '{"input":"Hi", "voice":"alloy","model":"openai/voice-model","speed":1.0}')
  assert.equal(JSON.parse(upstream.calls[0]?.body ?? ''), {
    voice: 'verse',
    input: 'Hi',
    model: 'voice-model',
    speed: 1,
  })
})

const stream = (chunks: Uint8Array[], end?: 'close' | 'error' | 'hang') =>
  new Response(getBody(chunks, end), { headers: { 'content-type': 'audio/mpeg' } })

test('truncated audio never ends normally', async () => {
  const full = samples.mp3
  let cut = 1
  const { post, recorded, clock } = await open(() => stream([full.subarray(0, cut)], 'error'))
  for (; cut <= full.length; cut += process.env.CI ? 1 : 13) {
    await clock.advance(600_000)
    const response = await post(AT, { ...requestOptions, model: 'elevenlabs/voice-model' })
    assert.is(response.status, 200)
    await assertRejects(response.arrayBuffer())
    const events = await (
      await post(AT, { ...requestOptions, model: 'elevenlabs/voice-model', stream_format: 'sse' })
    ).text()
    assert.not.match(events, /speech\.audio\.done/)
    assert.match(events, /"error":\{"message"/)
  }
  assert.equal(recorded.errors, [])
})

test('detects audio that is shorter than its declared length', async () => {
  const headers = { 'content-type': 'audio/mpeg', 'content-length': '1000' }
  const { post } = await open(() => new Response(getBody([samples.mp3.subarray(0, 100)]), { headers }))
  await assertRejects((await post(AT, { ...requestOptions, model: 'elevenlabs/voice-model' })).arrayBuffer())
})

test('a speech event stream truncated at any byte never ends normally', async () => {
  for (const provider of ['mistral', 'openai', 'google']) {
    const body = { ...requestOptions, model: `${provider}/voice-model`, response_format: 'pcm', stream_format: 'sse' }
    const full = encodeUtf8(soundVendors[provider]?.events?.(new Uint8Array([1, 2, 3, 4])) ?? '')
    let reply = full
    const { post, clock, recorded } = await open(() => sse([new TextDecoder().decode(reply)]))
    assert.match(await (await post(AT, body)).text(), /speech\.audio\.done/)
    for (let cut = 1; cut < full.length - 2; cut += process.env.CI ? 1 : 5) {
      reply = full.subarray(0, cut)
      await clock.advance(600_000)
      const response = await post(AT, body)
      const text = await response.text()
      assert.ok(response.status !== 200 || text.includes('"error"'), `${provider} cut at ${cut}: ${text}`)
    }
    assert.equal(recorded.errors, [])
  }
})

test('until the first byte, any response other than audio falls back to the next target', async () => {
  const failures: Record<string, () => Response | Promise<Response>> = {
    'a status of 500': () => json({ error: { message: 'no' } }, 500),
    'an error in a 200': () => json({ error: { message: 'no' } }),
    'an HTML page': () => new Response('<html>', { headers: { 'content-type': 'text/html' } }),
    'plain text': () => new Response('error: none', { headers: { 'content-type': 'text/plain' } }),
    'no bytes': () => stream([]),
    'a disconnect before the first byte': () => stream([], 'error'),
  }
  for (const [label, fail] of Object.entries(failures)) {
    const combos = { pair: { models: ['elevenlabs/voice-model', 'deepgram/voice-model'], kind: 'tts' as const } }
    const { post, upstream } = await open((call) => (call.provider === 'elevenlabs' ? fail() : createResponse(call)), {
      combos,
    })
    const response = await post(AT, { ...requestOptions, model: 'pair' })
    assert.is(toBase64(await readAll(response)), toBase64(samples.mp3), label)
    assert.equal(upstream.providers, ['elevenlabs', 'deepgram'], label)
  }
})

test('the first bytes are sent immediately, and an abort cancels the vendor call', async () => {
  const { post, upstream } = await open(() => stream([samples.mp3.subarray(0, 10)], 'hang'))
  const controller = new AbortController()
  const response = await post(AT, { ...requestOptions, model: 'elevenlabs/voice-model' }, { signal: controller.signal })
  const reader = response.body?.getReader()
  assert.is((await reader?.read())?.value?.length, 10)
  assert.is(upstream.open, 1)
  await reader?.cancel()
  assert.is(upstream.open, 0)
})

test('an abort before the headers cancels the vendor call', async () => {
  const { post, upstream } = await open(never)
  const controller = new AbortController()
  const replying = post(AT, { ...requestOptions, model: 'elevenlabs/voice-model' }, { signal: controller.signal })
  while (upstream.calls.length === 0) await new Promise((resolve) => setTimeout(resolve))
  controller.abort()
  assert.equal([(await replying).status, upstream.open], [499, 0])
})

test("the gateway doesn't read audio far ahead of a slow client", async () => {
  const chunk = new Uint8Array(32 * 1024)
  const { post, upstream } = await open(() => stream(Array.from({ length: 1_000 }, () => chunk)))
  for (const stream_format of ['audio', 'sse']) {
    const before = upstream.pulled
    const response = await post(AT, { ...requestOptions, model: 'elevenlabs/voice-model', stream_format })
    await new Promise((resolve) => setTimeout(resolve, 5))
    assert.ok(upstream.pulled - before <= 96 * 1024, `${upstream.pulled - before}`)
    await response.body?.cancel()
  }
})

test('audio that contains the credential is cut off, even if the credential spans two chunks', async () => {
  const key = encodeUtf8('..secret-of-elevenlabs..')
  for (const chunks of [[key], [key.subarray(0, 9), key.subarray(9)]])
    for (const stream_format of ['audio', 'sse']) {
      const { post } = await open(() => stream([samples.mp3, ...chunks, samples.mp3]))
      const response = await post(AT, { ...requestOptions, model: 'elevenlabs/voice-model', stream_format })
      const text = await response.text().catch(() => 'aborted')
      assert.not.match(text, /secret-of-elevenlabs|speech.audio.done/)
      assert.ok(text === 'aborted' || text.includes('"error"'))
      assert.ok(!text.includes(toBase64(key)))
    }
})

const bad: Record<string, object> = {
  'empty text': { input: '' },
  'text of another type': { input: ['Hi'] },
  'a voice of another type': { voice: 7 },
  'a voice without an id': { voice: {} },
  'a speed out of range': { speed: 5 },
  'a speed of another type': { speed: '1' },
  'an unknown stream_format': { stream_format: 'chunks' },
  'a format of another type': { response_format: 7 },
}

for (const [label, members] of Object.entries(bad))
  test(`a speech request with ${label} is rejected`, async () => {
    const { post, upstream, recorded } = await open(createResponse)
    for (const provider of ['elevenlabs', 'openai']) {
      const response = await post(AT, { ...requestOptions, model: `${provider}/voice-model`, ...members })
      assert.is(response.status, 400)
      assert.match(await response.text(), new RegExp(Object.keys(members)[0] ?? ''))
    }
    assert.equal([upstream.calls.length, recorded.errors.length], [0, 0])
  })

for (const provider of Object.keys(soundVendors))
  for (const stream_format of ['audio', 'sse'])
    test(`speech from ${provider} is charged per character (${stream_format}), whether or not tokens are reported`, async () => {
      const connections = [{ provider, prices: { 'voice-model': { character: 0.5 } } }]
      const { post, recorded } = await open(createResponse, { connections })
      await (await post(AT, { ...requestOptions, model: `${provider}/voice-model`, stream_format })).arrayBuffer()
      const [{ units, costUsd, costSource } = assert.unreachable() as never] = recorded.usages
      assert.equal([units, costUsd, costSource], [{ character: 7 }, 3.5, 'counted'])
    })

test('audio durations are read from WAV and MP3 headers', () => {
  assert.is(getDuration(concatBytes([writeWavHeader(24_000, 9_600), new Uint8Array(9_600)])), 0.2)
  assert.is(getDuration(concatBytes([writeWavHeader(24_000), new Uint8Array(9_600)])), 0.2)
  assert.is(Math.round((getDuration(samples.mp3) ?? 0) * 1_000), 26)
  for (const bytes of [new Uint8Array(0), encodeUtf8('RIFF'), encodeUtf8('RIFFxxxxWAVEfmt ')])
    assert.is(getDuration(bytes), undefined)
})
