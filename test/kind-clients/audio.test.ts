import { createOpenAI } from '@ai-sdk/openai'
import { experimental_generateSpeech as generateSpeech, experimental_transcribe as transcribe } from 'ai'
import OpenAI, { APIError, toFile } from 'openai'
import { toBase64 } from '../../src/lib/bytes.ts'
import { samples, soundVendors, vendorCatalog } from '../kinds/speech/vendors.ts'
import { wav } from '../kinds/transcription/sample.ts'
import { hearingCatalog, hearingVendors, SRT, TEXT } from '../kinds/transcription/vendors.ts'
import { fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { openWorld } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'
import { serve } from './support.ts'

Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false })

const test = suite('unmodified speech and transcription clients')

async function open(vendors: typeof soundVendors | typeof hearingVendors) {
  const upstream = fakeUpstream(
    (call) => vendors[call.provider]?.respond(call) ?? json({ error: { message: 'none' } }, 404),
  )
  const catalog = vendors === soundVendors ? vendorCatalog : hearingCatalog
  const { gateway, recorded } = await openWorld({ fetch: upstream, catalog, connections: Object.keys(vendors) })
  const { origin, close } = await serve(gateway)
  const sdk = createOpenAI({ baseURL: `${origin}/v1`, apiKey: 'x' })
  return {
    up: upstream,
    recorded,
    close,
    sdk,
    openai: new OpenAI({ baseURL: `${origin}/v1`, apiKey: 'x', maxRetries: 0 }),
  }
}

for (const name of Object.keys(soundVendors)) {
  const model = `${name}/voice-model`

  test(`OpenAI's client and the AI SDK generate speech at ${name}`, async () => {
    const { openai, sdk, close } = await open(soundVendors)
    try {
      const response = await openai.audio.speech.create({
        model,
        input: 'Hello',
        voice: 'alloy',
        response_format: 'mp3',
      })
      const sound = new Uint8Array(await response.arrayBuffer())
      const { type = '' } = soundVendors[name]?.formats.mp3 ?? {}
      assert.is(response.headers.get('content-type'), type)
      if (type === 'audio/mpeg') assert.is(toBase64(sound), toBase64(samples.mp3))
      const events = await openai.audio.speech.create({ model, input: 'Hello', voice: 'alloy', stream_format: 'sse' })
      assert.match(await events.text(), /speech\.audio\.done/)
      const { audio } = await generateSpeech({ model: sdk.speech(model), text: 'Hello', voice: 'alloy', maxRetries: 0 })
      assert.ok(audio.uint8Array.length > 400)
    } finally {
      await close()
    }
  })
}

for (const name of Object.keys(hearingVendors)) {
  const model = `${name}/m`

  test(`OpenAI's client and the AI SDK transcribe audio at ${name}`, async () => {
    const { openai, sdk, close } = await open(hearingVendors)
    try {
      const file = () => toFile(wav, 'said.wav', { type: 'audio/wav' })
      const { text } = await openai.audio.transcriptions.create({ model, file: await file() })
      assert.is(text, TEXT)
      const srt: unknown = await openai.audio.transcriptions.create({
        model,
        file: await file(),
        response_format: 'srt',
      })
      assert.is(srt, SRT)
      const verbose = await openai.audio.transcriptions.create({
        model,
        file: await file(),
        response_format: 'verbose_json',
      })
      assert.is(verbose.segments?.length, 2)
      const stream = await openai.audio.transcriptions.create({ model, file: await file(), stream: true })
      const output: string[] = []
      for await (const event of stream) if (event.type === 'transcript.text.delta') output.push(event.delta)
      assert.is(output.join(''), TEXT)
      const transcript = await transcribe({ model: sdk.transcription(model), audio: wav, maxRetries: 0 })
      assert.is(transcript.text, TEXT)
    } finally {
      await close()
    }
  })
}

test("OpenAI's client throws its own error class for an invalid request", async () => {
  const { openai, close } = await open(soundVendors)
  try {
    const error = await openai.audio.speech
      .create({ model: 'groq/m', input: '', voice: 'alloy' })
      .catch((error) => error)
    assert.ok(error instanceof APIError)
    assert.is(error.status, 400)
  } finally {
    await close()
  }
})
