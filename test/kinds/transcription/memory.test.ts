import { encodeUtf8 } from '../../../src/lib/bytes.ts'
import { json } from '../../pipeline/support/upstream.ts'
import { openWorld } from '../../pipeline/support/world.ts'
import { collectGarbage } from '../../support/garbage.ts'
import { assert, suite } from '../../support/suite.ts'
import { hearingCatalog } from './vendors.ts'

const test = suite('memory usage of uploads')

const SIZE = 25 * 1024 * 1024
/** Returns the memory usage in bytes: array buffers, which hold uploads, and the heap, which holds strings. */
async function measureHeap(): Promise<number> {
  await collectGarbage()
  const { arrayBuffers, heapUsed } = process.memoryUsage()
  return arrayBuffers + heapUsed
}

/** Creates an upload that generates its chunks while it is read. */
function upload(): ReadableStream<Uint8Array> {
  const head = encodeUtf8(
    '--x\r\ncontent-disposition: form-data; name="model"\r\n\r\nheard\r\n--x\r\ncontent-disposition: form-data; name="file"; filename="a.mp3"\r\ncontent-type: audio/mpeg\r\n\r\n',
  )
  let left = SIZE
  let isBegun = false
  return new ReadableStream(
    {
      pull(controller) {
        if (!isBegun) {
          isBegun = true
          return controller.enqueue(head)
        }
        if (left === 0) {
          controller.enqueue(encodeUtf8('\r\n--x--\r\n'))
          return controller.close()
        }
        const size = Math.min(left, 64 * 1024)
        left -= size
        controller.enqueue(new Uint8Array(size).fill(7))
      },
    },
    { highWaterMark: 0 },
  )
}

/** Creates the same upload in the AI SDK's format, as JSON with base64 audio. */
function uploadInJson(): ReadableStream<Uint8Array> {
  let left = Math.floor(SIZE / 3) * 4
  let begin = '{"mediaType":"audio/mpeg","audio":"'
  return new ReadableStream(
    {
      pull(controller) {
        if (begin !== '') {
          controller.enqueue(encodeUtf8(begin))
          begin = ''
          return
        }
        if (left === 0) {
          controller.enqueue(encodeUtf8('"}'))
          return controller.close()
        }
        const size = Math.min(left, 64 * 1024)
        left -= size
        controller.enqueue(encodeUtf8('BwcH'.repeat(size / 4)))
      },
    },
    { highWaterMark: 0 },
  )
}

const uploads: Record<string, { path: string; headers: Record<string, string>; body: () => ReadableStream }> = {
  'as a form': {
    path: '/v1/audio/transcriptions',
    headers: { 'content-type': 'multipart/form-data; boundary=x' },
    body: upload,
  },
  'in base64': {
    path: '/v4/ai/transcription-model',
    headers: { 'content-type': 'application/json', 'ai-model-id': 'heard' },
    body: uploadInJson,
  },
}

for (const [mode, { path, headers, body }] of Object.entries(uploads))
  test(`an upload ${mode} uses at most 2.2 times its size in memory during provider calls`, async () => {
    let before = 0
    const most: number[] = []
    const fetch = async (_: unknown, { body }: RequestInit = {}) => {
      assert.ok((body as Uint8Array).length >= SIZE - 2)
      most.push((await measureHeap()) - before)
      return most.length < 3 ? json({ error: { message: 'no' } }, 500) : json({ text: 'Hi' })
    }
    const models = ['openai/m', 'groq/m', 'deepgram/m', 'mistral/m', 'elevenlabs/m']
    const world = await openWorld({
      fetch,
      catalog: hearingCatalog,
      connections: Object.keys(hearingCatalog),
      combos: { heard: { models: models.filter((name) => !name.startsWith('deepgram')), kind: 'stt' } },
    })
    const request = () =>
      new Request(`http://gateway${path}`, {
        method: 'POST',
        headers,
        body: body(),
        duplex: 'half',
      } as RequestInit)
    before = await measureHeap()
    const response = await world.gateway.fetch(request())
    assert.is(response.status, 200, await response.text())
    assert.is(most.length, 3)
    for (const bytes of most) assert.ok(bytes <= 2.2 * SIZE, `${(bytes / SIZE).toFixed(2)} times its size`)
    console.log(`  ${most.map((bytes) => (bytes / SIZE).toFixed(2)).join(', ')} times the size of the upload`)
  })
