import { createOpenAI } from '@ai-sdk/openai'
import { GoogleGenAI } from '@google/genai'
import { generateImage } from 'ai'
import OpenAI, { APIError, toFile } from 'openai'
import { getBytes, jpeg, png, webp } from '../kinds/image/images.ts'
import { imageVendors, openImages, type VendorName } from '../kinds/image/vendors.ts'
import { assert, suite } from '../support/suite.ts'
import { serve } from './support.ts'

Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false }) // the AI SDK warns about sizes and seeds that it doesn't send

const test = suite('unmodified image clients')

/** The images of vendors that respond immediately, without a job. */
const made: Partial<Record<VendorName, string>> = {
  openai: png,
  azure: png,
  google: png,
  vertex: png,
  xai: jpeg,
  together: jpeg,
  openrouter: webp,
}
const names = Object.keys(made) as VendorName[]

async function open() {
  const { gateway, upstream } = await openImages()
  const { origin, close } = await serve(gateway)
  return { upstream, close, origin, openai: new OpenAI({ baseURL: `${origin}/v1`, apiKey: 'x', maxRetries: 0 }) }
}

for (const name of names) {
  const { model } = imageVendors[name]

  test(`OpenAI's client generates and edits images at ${name}`, async () => {
    const { openai, close } = await open()
    try {
      const { data, created } = await openai.images.generate({ model, prompt: 'a walk', size: '1024x1024', n: 2 })
      assert.equal(
        data?.map(({ b64_json: base64 }) => base64),
        [made[name], made[name]],
      )
      assert.is(typeof created, 'number')
      const image = await toFile(getBytes(png), 'walk.png', { type: 'image/png' })
      const one = await openai.images.edit({ model, prompt: 'make it rain', image })
      assert.is(one.data?.[0]?.b64_json, made[name])
      const two = await openai.images.edit({ model, prompt: 'both', image: [image, image], n: 1 })
      assert.is(two.data?.[0]?.b64_json, made[name])
    } finally {
      await close()
    }
  })

  test(`OpenAI's client reads an image stream from ${name}`, async () => {
    const { openai, close } = await open()
    try {
      const stream = await openai.images.generate({ model, prompt: 'a walk', stream: true, partial_images: 2 })
      const events = []
      for await (const event of stream) events.push(event)
      const last = events.at(-1)
      assert.equal([last?.type, last?.b64_json], ['image_generation.completed', made[name]])
      const partial = events.filter(({ type }) => type === 'image_generation.partial_image')
      assert.is(partial.length, name === 'openai' || name === 'azure' ? 2 : 0)
      const edit = await openai.images.edit({
        model,
        prompt: 'rain',
        image: await toFile(getBytes(png), 'walk.png', { type: 'image/png' }),
        stream: true,
      })
      const changed = []
      for await (const event of edit) changed.push(event.type)
      assert.equal(changed.at(-1), 'image_edit.completed')
    } finally {
      await close()
    }
  })

  test(`the AI SDK generates and edits images at ${name}`, async () => {
    const { origin, close } = await open()
    try {
      const openai = createOpenAI({ baseURL: `${origin}/v1`, apiKey: 'x' })
      const { image } = await generateImage({ model: openai.image(model), prompt: 'a walk', size: '1024x1024' })
      assert.is(image.base64, made[name])
      const { images } = await generateImage({
        model: openai.image(model),
        prompt: { text: 'make it rain', images: [getBytes(png)] },
      })
      assert.is(images[0]?.base64, made[name])
    } finally {
      await close()
    }
  })
}

for (const name of ['google', 'vertex'] as const)
  test(`@google/genai generates images at ${name} in Google's format`, async () => {
    const { origin, close } = await open()
    try {
      const { models } = new GoogleGenAI({ apiKey: 'x', httpOptions: { baseUrl: origin } })
      const { candidates } = await models.generateContent({
        model: imageVendors[name].model,
        contents: 'a walk',
        config: { responseModalities: ['IMAGE'], imageConfig: { aspectRatio: '3:2' } },
      })
      const data = candidates?.[0]?.content?.parts?.flatMap(({ inlineData }) => inlineData?.data ?? [])
      assert.equal(data, [png])
    } finally {
      await close()
    }
  })

test("OpenAI's client throws an error that names the invalid field", async () => {
  const { openai, upstream, close } = await open()
  try {
    const error: unknown = await openai.images
      .generate({ model: imageVendors.xai.model, prompt: 'a walk', n: 11 })
      .catch((error) => error)
    assert.ok(error instanceof APIError)
    assert.equal([error.status, error.param, upstream.calls.length], [400, 'n', 0])
  } finally {
    await close()
  }
})
