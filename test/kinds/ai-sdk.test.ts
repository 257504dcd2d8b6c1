import * as ai7 from 'ai'
import { concatBytes } from '../../src/lib/bytes.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { writeWavHeader } from '../../src/protocols/kinds/sound/wav.ts'
import { ai6 } from '../pipeline/support/sdk/clients/ai.ts'
import { fakeUpstream, json, never } from '../pipeline/support/upstream.ts'
import { openWorld } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'
import { getBytes, jpeg, png } from './image/images.ts'
import { getFields, imageVendors, openImages, type VendorName } from './image/vendors.ts'
import { answerAt } from './samples.ts'
import { samples, soundVendors, vendorCatalog } from './speech/vendors.ts'
import { wav } from './transcription/sample.ts'
import { hearingCatalog, hearingVendors, TEXT } from './transcription/vendors.ts'

Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false })

/** Both generations of the AI SDK, with version 7's function names. */
const generations = {
  7: ai7,
  6: { ...ai6, generateSpeech: ai6.experimental_generateSpeech, transcribe: ai6.experimental_transcribe },
} as const

const created: Partial<Record<VendorName, string>> = {
  openai: png,
  google: png,
  vertex: png,
  xai: jpeg,
  together: jpeg,
}

for (const [generation, ai] of Object.entries(generations)) {
  const test = suite(`images, speech, and transcription with AI SDK ${generation}`)
  const path = generation === '7' ? '/v4/ai' : '/v3/ai'
  const getModels = (fetch: typeof globalThis.fetch, apiKey = 'x') =>
    ai.createGateway({ baseURL: `http://gateway${path}`, apiKey, fetch })

  async function images(options: Parameters<typeof openImages>[0] = {}) {
    const world = await openImages(options)
    return { ...world, models: getModels(world.gateway.fetch) }
  }

  async function sounds(vendors: typeof soundVendors | typeof hearingVendors, limits = {}) {
    const upstream = fakeUpstream(
      (call) => vendors[call.provider]?.respond(call) ?? json({ error: { message: 'none' } }, 404),
    )
    const catalog = vendors === soundVendors ? vendorCatalog : hearingCatalog
    const world = await openWorld({ fetch: upstream, catalog, limits, connections: Object.keys(vendors) })
    return { ...world, upstream, models: getModels(world.gateway.fetch) }
  }

  for (const name of Object.keys(created) as VendorName[]) {
    const { model, makes, edits, ...vendor } = imageVendors[name]

    test(`${name} generates images and specifies the size with its own parameters`, async () => {
      const { models, upstream } = await images()
      const callOptions = { model: models.image(model), prompt: 'a walk', n: 2, maxRetries: 0 }
      const {
        images: shown,
        usage,
        warnings,
        providerMetadata,
      } = await ai.generateImage({ ...callOptions, aspectRatio: '3:2' })
      assert.equal(
        shown.map(({ base64 }) => base64),
        [created[name], created[name]],
      )
      const recorded = Object(providerMetadata.signalbox)
      assert.equal([recorded.images.length, warnings], [2, []])
      if (name === 'openai') assert.equal(usage, { inputTokens: 10, outputTokens: 1_000, totalTokens: 1_010 })
      assert.is(upstream.calls.filter(({ url }) => url.href === makes).length, 'most' in vendor ? 2 : 1)
    })

    test(`${name} edits an image, and unsupported options cause warnings`, async () => {
      const { models, upstream } = await images()
      const { images: shown, warnings } = await ai.generateImage({
        model: models.image(model),
        prompt: { text: 'make it rain', images: [getBytes(png)] },
        providerOptions: { openai: { negativePrompt: 'rain' }, gateway: { caching: 'auto' } },
        maxRetries: 0,
      })
      assert.is(shown[0]?.base64, created[name])
      assert.is(upstream.calls.filter(({ url }) => url.href === edits).length, 1)
      const lost = warnings.map((warning) => ('feature' in warning ? warning.feature : warning.type))
      assert.ok(lost.includes('providerOptions.gateway.caching'), String(lost))
      if (name !== 'together') assert.ok(lost.includes('providerOptions.openai.negativePrompt'), String(lost))
    })
  }

  test("AI SDK provider options map to other vendors' fields", async () => {
    const { models, upstream } = await images()
    const callOptions = { model: models.image(imageVendors.openai.model), prompt: 'a walk', maxRetries: 0 }
    await ai.generateImage({ ...callOptions, size: '1536x1024', providerOptions: { openai: { outputFormat: 'webp' } } })
    const sent = getFields(upstream.calls.at(-1))
    assert.equal([sent.size, sent.output_format, sent.stream], ['1536x1024', 'webp', undefined])
    const google = { model: models.image(imageVendors.google.model), prompt: 'a walk', maxRetries: 0 }
    await ai.generateImage({ ...google, providerOptions: { google: { imageConfig: { imageSize: '2K' } } } })
    assert.match(upstream.calls.at(-1)?.body ?? '', '"imageSize":"2K"')
  })

  test('a mask is rejected without an image, or for a model that changes the entire image', async () => {
    const { models, upstream, post } = await images()
    const reason = await ai
      .generateImage({
        model: models.image(imageVendors.google.model),
        prompt: { text: 'rain', images: [getBytes(png)], mask: getBytes(png) },
        maxRetries: 0,
      })
      .catch((error: unknown) => error)
    assert.match(String(reason), /mask/)
    const mask = { type: 'file', mediaType: 'image/png', data: png }
    const headers = { 'ai-model-id': imageVendors.openai.model }
    const response = await post(`${path}/image-model`, { prompt: 'rain', n: 1, mask }, { headers })
    assert.equal([response.status, upstream.calls.length], [400, 0])
  })

  test('a request for more images than one call can return fails and suggests maxImagesPerCall', async () => {
    const { models, upstream } = await images()
    const callOptions = { model: models.image(imageVendors.openai.model), prompt: 'a walk', n: 25, maxRetries: 0 }
    const reason = await ai.generateImage(callOptions).catch((error: unknown) => error)
    assert.match(String(reason), /"n": must be a whole number from 1 to 10.*maxImagesPerCall/)
    assert.equal([Object(reason).name, Object(reason).statusCode], ['GatewayInvalidRequestError', 400])
    assert.is(upstream.calls.length, 0)
    const { images: shown } = await ai.generateImage({ ...callOptions, maxImagesPerCall: 10 })
    assert.equal([shown.length, upstream.calls.length], [25, 3])
  })

  test("each image has the metadata of its call, and a call's cost appears only once", async () => {
    const { models, upstream } = await images()
    const callOptions = { model: models.image(imageVendors.openai.model), prompt: 'a walk', n: 3, maxRetries: 0 }
    const {
      images: shown,
      providerMetadata,
      ...rest
    } = await ai.generateImage({
      ...callOptions,
      maxImagesPerCall: 2,
      providerOptions: { xai: { depth: 1 } },
    })
    assert.equal([shown.length, upstream.calls.length], [3, 2])
    const recorded: JsonObject[] = Object(providerMetadata.signalbox).images
    const attempt = { target: imageVendors.openai.model, status: 200, outcome: 'answered' }
    for (const { target, attempts, warnings } of recorded)
      assert.equal([target, attempts, warnings], [attempt.target, [attempt], ['dropped:providerOptions.xai.depth']])
    const [first, second, third] = recorded.map(({ requestId }) => requestId)
    assert.ok(first && third && first === second && first !== third)
    assert.equal(
      recorded.map(({ costUsd }) => typeof costUsd),
      ['number', 'undefined', 'number'],
    )
    if (generation !== '7') return
    const [, own] = shown.map((image) => Object(image).providerMetadata)
    assert.equal(own, { signalbox: recorded[1] })
    assert.equal(
      Object(rest).calls.map(
        ({ providerMetadata }: { providerMetadata: unknown }) => Object(providerMetadata).signalbox.costUsd,
      ),
      [recorded[0]?.costUsd, recorded[2]?.costUsd],
    )
  })

  test("an image that can't be downloaded isn't generated again", async () => {
    const { models, upstream } = await images({
      respond: ({ url }) =>
        url.pathname.includes('images') ? json({ data: [{ url: 'https://10.0.0.1/a.png' }] }) : undefined,
    })
    const callOptions = { model: models.image(imageVendors.together.model), prompt: 'a walk' }
    const reason = await ai.generateImage(callOptions).catch((error: unknown) => error)
    assert.ok(ai.NoImageGeneratedError.isInstance(reason), String(reason))
    assert.is(upstream.calls.length, 1)
  })

  for (const name of Object.keys(soundVendors)) {
    const model = `${name}/voice-model`

    test(`${name} generates speech`, async () => {
      const { models, recorded } = await sounds(soundVendors)
      for (const outputFormat of [undefined, 'wav', 'mp3']) {
        const callOptions = { model: models.speech(model), text: 'Hello', voice: 'alloy', maxRetries: 0 }
        const { audio, providerMetadata } = await ai.generateSpeech({
          ...callOptions,
          ...(outputFormat && { outputFormat }),
        })
        const wanted = soundVendors[name]?.formats[outputFormat ?? 'mp3']
        const sound = wanted?.bytes === samples.wav ? samples.wav.subarray(44) : wanted?.bytes
        const received = wanted?.bytes === samples.wav ? audio.uint8Array.subarray(44) : audio.uint8Array
        assert.equal([...received], [...(sound ?? [])], `${outputFormat} ${wanted?.type}`)
        assert.is(Object(providerMetadata.signalbox).target, model)
      }
      assert.equal(recorded.errors, [])
    })
  }

  test("speech without a voice uses OpenAI's first voice and no language", async () => {
    const { models, upstream } = await sounds(soundVendors)
    const { warnings } = await ai.generateSpeech({
      model: models.speech('openai/voice-model'),
      text: 'Hello',
      language: 'en',
      outputFormat: 'ogg', // a format that OpenAI doesn't have
      maxRetries: 0,
    })
    const { voice, language, response_format: format } = JSON.parse(upstream.calls[0]?.body ?? '{}')
    assert.equal([voice, language, format], ['alloy', undefined, 'mp3'])
    assert.equal(
      warnings.map((warning) => 'feature' in warning && warning.feature),
      ['outputFormat', 'language'],
    )
  })

  test('unsupported speech options cause warnings', async () => {
    const { models } = await sounds(soundVendors)
    const { warnings } = await ai.generateSpeech({
      model: models.speech('deepgram/voice-model'),
      text: 'Hello',
      instructions: 'slowly',
      outputFormat: 'mp3',
      providerOptions: { elevenlabs: { voiceSettings: { stability: 1 } } },
    })
    const lost = warnings.map((warning) => ('feature' in warning ? warning.feature : warning.type))
    assert.equal(lost.sort(), ['instructions', 'providerOptions.elevenlabs.voiceSettings'])
  })

  test("falls back to the next vendor if speech is cut off or isn't audio", async () => {
    const truncate = () =>
      new Response(samples.mp3.slice(0, 100), { headers: { 'content-type': 'audio/mpeg', 'content-length': '417' } })
    for (const failing of [truncate, () => json({ error: { message: 'busy' } }), () => new Response('')]) {
      const upstream = fakeUpstream((call) =>
        call.provider === 'own' ? failing() : (soundVendors.openai?.respond(call) ?? failing()),
      )
      const combos = { talk: { models: ['own/m', 'openai/m'], kind: 'tts' as const } }
      const { gateway, recorded } = await openWorld({
        fetch: upstream,
        catalog: vendorCatalog,
        connections: ['own', 'openai'],
        combos,
      })
      const models = getModels(gateway.fetch)
      const { audio, providerMetadata } = await ai.generateSpeech({
        model: models.speech('talk'),
        text: 'Hi',
        maxRetries: 0,
      })
      assert.equal([...audio.uint8Array], [...samples.mp3])
      assert.is(Object(providerMetadata.signalbox).attempts.length, 2)
      assert.equal(recorded.errors, [])
    }
  })

  for (const name of Object.keys(hearingVendors)) {
    const model = name === 'openai' || name === 'groq' ? `${name}/whisper-1` : `${name}/m`

    test(`${name} transcribes audio, and returns timestamps if the vendor reports them`, async () => {
      const { models, recorded } = await sounds(hearingVendors)
      const transcript = await ai.transcribe({ model: models.transcription(model), audio: wav, maxRetries: 0 })
      const { text, segments, language, durationInSeconds, warnings } = transcript
      assert.equal([text, warnings, durationInSeconds], [TEXT, [], 0.2])
      if (['openai', 'groq', 'deepgram', 'elevenlabs'].includes(name)) {
        assert.equal(segments, [
          { text: 'Hello there.', startSecond: 0, endSecond: 0.1 },
          { text: 'And bye.', startSecond: 0.12, endSecond: 0.2 },
        ])
        assert.is(language, 'en')
      } else assert.equal(segments, [])
      assert.equal(recorded.errors, [])
    })

    test(`${name} returns timestamps if requested`, async () => {
      const { models } = await sounds(hearingVendors)
      const { segments } = await ai.transcribe({
        model: models.transcription(model),
        audio: wav,
        maxRetries: 0,
        providerOptions: { openai: { timestampGranularities: ['segment'] } },
      })
      assert.equal(
        segments.map((segment) => segment.text),
        ['Hello there.', 'And bye.'],
      )
    })
  }

  test("timestamps aren't requested from a model that doesn't support them", async () => {
    const { models, upstream } = await sounds(hearingVendors)
    const { segments } = await ai.transcribe({ model: models.transcription('openai/gpt-transcribe'), audio: wav })
    assert.equal(segments, [])
    assert.not.match(new TextDecoder().decode(upstream.calls[0]?.init.body as Uint8Array), /verbose_json/)
  })

  test('audio limits apply to the decoded bytes, and oversized images get a 413', async () => {
    const fits = await sounds(hearingVendors, { maxAudioBytes: wav.length })
    const requestOptions = { audio: wav, maxRetries: 0 }
    await ai.transcribe({ ...requestOptions, model: fits.models.transcription('openai/m') })
    const over = await sounds(hearingVendors, { maxAudioBytes: wav.length - 3 })
    const reason = await ai
      .transcribe({ ...requestOptions, model: over.models.transcription('openai/m') })
      .catch((error) => error)
    assert.equal([Object(reason).statusCode, over.upstream.calls.length], [413, 0])
    assert.match(String(reason), /limits\.maxAudioBytes/)
    const small = await images({ limits: { maxImageBytes: 60 } })
    const image = { text: 'rain', images: [getBytes(png)] }
    const rejected = await ai
      .generateImage({ model: small.models.image(imageVendors.openai.model), prompt: image, maxRetries: 0 })
      .catch((error) => error)
    assert.equal([Object(rejected).statusCode, small.upstream.calls.length], [413, 0])
  })

  test('errors have types that the AI SDK recognizes', async () => {
    const { models } = await sounds(hearingVendors)
    const nobody = await ai
      .transcribe({ model: models.transcription('nobody/m'), audio: wav, maxRetries: 0 })
      .catch((error: unknown) => error)
    assert.equal([Object(nobody).name, Object(nobody).modelId], ['GatewayModelNotFoundError', 'nobody/m'])
    const bad = await ai
      .generateSpeech({ model: models.speech('openai/m'), text: ' ', maxRetries: 0 })
      .catch((error: unknown) => error)
    assert.equal([Object(bad).name, Object(bad).statusCode], ['GatewayInvalidRequestError', 400])
  })

  test('an aborted call rejects with its reason and aborts the provider call', async () => {
    const calls = {
      image: (models: ReturnType<typeof getModels>, abortSignal: AbortSignal) =>
        ai.generateImage({ model: models.image('one/i'), prompt: 'a walk', abortSignal, maxRetries: 0 }),
      speech: (models: ReturnType<typeof getModels>, abortSignal: AbortSignal) =>
        ai.generateSpeech({ model: models.speech('one/s'), text: 'Hi', abortSignal, maxRetries: 0 }),
      transcription: (models: ReturnType<typeof getModels>, abortSignal: AbortSignal) =>
        ai.transcribe({ model: models.transcription('one/t'), audio: wav, abortSignal, maxRetries: 0 }),
    }
    for (const [label, call] of Object.entries(calls)) {
      const controller = new AbortController()
      const upstream = fakeUpstream(() => {
        queueMicrotask(() => controller.abort(new Error('left')))
        return never()
      })
      const { gateway } = await openWorld({ fetch: upstream, connections: ['one'] })
      const reason = await call(getModels(gateway.fetch), controller.signal).catch((error: unknown) => error)
      assert.equal(
        [/left|abort/i.test(String(reason)), upstream.calls.length, upstream.open],
        [true, 1, 0],
        `${label}: ${reason}`,
      )
    }
  })

  test('the model list has types that the AI SDK recognizes', async () => {
    const types = { m: 'llm', i: 'image', s: 'tts', t: 'stt', e: 'embedding' } as const
    const models = Object.entries(types).map(([id, type]) => ({ id, type }))
    const catalog = { one: { baseUrl: 'http://one.test/v1', models, serviceKinds: Object.values(types) } }
    const upstream = fakeUpstream(() => json({ data: [] }))
    const { gateway } = await openWorld({ fetch: upstream, catalog, connections: ['one'] })
    const listed = (await getModels(gateway.fetch).getAvailableModels()).models
    const typeOf = Object.fromEntries(listed.map(({ id, modelType }) => [id, modelType]))
    assert.equal(
      [typeOf['one/m'], typeOf['one/i'], typeOf['one/s'], typeOf['one/t'], typeOf['one/e']],
      ['language', 'image', 'speech', 'transcription', 'embedding'],
    )
  })

  test('an image request over budget gets a 402, even if only providerOptions sets the higher quality', async () => {
    const prices = { i: { images: { low: 0.001, high: 0.02 } } }
    const upstream = fakeUpstream(({ url }) => answerAt(url.pathname) ?? json({}))
    const { api, post } = await openWorld({ fetch: upstream, connections: [{ provider: 'one', prices }] })
    const { key } = await api.keys.create({ name: 'alice', limits: { usd: { total: 0.01 } } })
    const headers = { authorization: `Bearer ${key}`, 'ai-model-id': 'one/i' }
    const body = { prompt: 'a walk', n: 1, quality: 'low', providerOptions: { openai: { quality: 'high' } } }
    const response = await post(`${path}/image-model`, body, { headers })
    assert.equal([response.status, upstream.calls.length], [402, 0])
  })

  test('a budget applies to images, characters, and seconds', async () => {
    const prices = { i: { image: 0.006 }, s: { character: 0.001 }, t: { second: 0.03 } }
    for (const [times, status] of [
      [1, undefined],
      [2, 402],
    ] as const) {
      const upstream = fakeUpstream(({ url }) => answerAt(url.pathname) ?? json({}))
      const { gateway, api } = await openWorld({ fetch: upstream, connections: [{ provider: 'one', prices }] })
      const audio = concatBytes([writeWavHeader(24_000, 9_600 * times), new Uint8Array(9_600 * times)]) // 0.2 s times `times`
      const calls = [
        (models: ReturnType<typeof getModels>) =>
          ai.generateImage({ model: models.image('one/i'), prompt: 'a walk', n: times, maxRetries: 0 }),
        (models: ReturnType<typeof getModels>) =>
          ai.generateSpeech({ model: models.speech('one/s'), text: 'x'.repeat(9 * times), maxRetries: 0 }),
        (models: ReturnType<typeof getModels>) =>
          ai.transcribe({ model: models.transcription('one/t'), audio, maxRetries: 0 }),
      ]
      for (const call of calls) {
        const { key } = await api.keys.create({ name: 'alice', limits: { usd: { total: 0.01 } } })
        const done = await call(getModels(gateway.fetch, key)).catch((error: unknown) => error)
        assert.is(Object(done).statusCode, status, String(done))
      }
      assert.is(upstream.calls.length, status ? 0 : 3)
    }
  })
}
