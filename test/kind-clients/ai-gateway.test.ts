import * as ai7 from 'ai'
import type { Gateway } from '../../src/gateway.ts'
import { getBytes, png } from '../kinds/image/images.ts'
import { imageVendors, openImages } from '../kinds/image/vendors.ts'
import { samples, soundVendors, vendorCatalog } from '../kinds/speech/vendors.ts'
import { wav } from '../kinds/transcription/sample.ts'
import { hearingCatalog, hearingVendors, TEXT } from '../kinds/transcription/vendors.ts'
import { ai6 } from '../pipeline/support/sdk/clients/ai.ts'
import { fakeUpstream, json, never } from '../pipeline/support/upstream.ts'
import { openWorld } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'
import { serve } from './support.ts'

Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false })

const test = suite("the AI SDK's gateway client over HTTP")

const generations = [
  { ai: ai7, path: '/v4/ai', generateSpeech: ai7.generateSpeech, transcribe: ai7.transcribe },
  {
    ai: ai6,
    path: '/v3/ai',
    generateSpeech: ai6.experimental_generateSpeech,
    transcribe: ai6.experimental_transcribe,
  },
] as const

async function openSounds(vendors: typeof soundVendors | typeof hearingVendors) {
  const upstream = fakeUpstream(
    (call) => vendors[call.provider]?.respond(call) ?? json({ error: { message: 'none' } }, 404),
  )
  const catalog = vendors === soundVendors ? vendorCatalog : hearingCatalog
  return openWorld({ fetch: upstream, catalog, connections: Object.keys(vendors) })
}

/** Calls `run` with the models of a gateway that listens on a port. */
async function runOver<T>(
  { gateway }: { gateway: Gateway },
  { ai, path }: (typeof generations)[number],
  call: (models: ReturnType<typeof ai7.createGateway>) => Promise<T>,
): Promise<T> {
  const { origin, close } = await serve(gateway)
  try {
    return await call(ai.createGateway({ baseURL: origin + path, apiKey: 'x' }))
  } finally {
    await close()
  }
}

for (const generation of generations) {
  const { ai, path, generateSpeech, transcribe } = generation

  for (const name of ['openai', 'google'] as const) {
    test(`generateImage generates and edits images at ${name} through ${path}`, async () => {
      const shown = await runOver(await openImages(), generation, async (models) => {
        const model = models.image(imageVendors[name].model)
        const one = await ai.generateImage({ model, prompt: 'a walk', size: '1024x1024', n: 2, maxRetries: 0 })
        const prompt = { text: 'make it rain', images: [getBytes(png)] }
        const two = await ai.generateImage({ model, prompt, maxRetries: 0 })
        return [...one.images, ...two.images].map(({ base64 }) => base64)
      })
      assert.equal(shown, [png, png, png])
    })

    test(`${name} converts text to speech and speech to text through ${path}`, async () => {
      const audio = await runOver(await openSounds(soundVendors), generation, async (models) => {
        const model = models.speech(`${name}/voice-model`)
        return (await generateSpeech({ model, text: 'Hello', outputFormat: 'wav', maxRetries: 0 })).audio
      })
      assert.equal([...audio.uint8Array.subarray(44)], [...samples.pcm])
      const { text } = await runOver(await openSounds(hearingVendors), generation, (models) =>
        transcribe({ model: models.transcription(`${name}/m`), audio: wav, maxRetries: 0 }),
      )
      assert.is(text, TEXT)
    })
  }

  test(`a client disconnect ends the provider call through ${path}`, async () => {
    const controller = new AbortController()
    const upstream = fakeUpstream(() => {
      queueMicrotask(() => controller.abort(new Error('left')))
      return never()
    })
    const world = await openWorld({ fetch: upstream, connections: ['one'] })
    const callOptions = { prompt: 'a walk', abortSignal: controller.signal, maxRetries: 0 }
    await runOver(world, generation, async (models) => {
      const reason = await ai
        .generateImage({ ...callOptions, model: models.image('one/i') })
        .catch((error: unknown) => error)
      assert.ok(reason instanceof Error)
      for (let times = 0; upstream.open > 0 && times < 100; times++)
        await new Promise((resolve) => setTimeout(resolve, 5))
      assert.equal([upstream.calls.length, upstream.open], [1, 0])
    })
  })
}
