import { pipeline, Readable, type Transform } from 'node:stream'
import * as zlib from 'node:zlib'
import type { ByteStream } from '../../../src/index.ts'

type DecoderFactory = (first: Uint8Array) => Transform

const FLUSH_OPTIONS = { flush: zlib.constants.Z_SYNC_FLUSH } // decompresses each chunk immediately
const DEFLATE_HEADER = 8

const decoders: Record<string, DecoderFactory | undefined> = {
  gzip: () => zlib.createGunzip(FLUSH_OPTIONS),
  'x-gzip': () => zlib.createGunzip(FLUSH_OPTIONS),
  // `deflate` means the zlib format, but some servers send raw deflate data.
  deflate: ([first = 0]) =>
    (first & 0x0f) === DEFLATE_HEADER ? zlib.createInflate(FLUSH_OPTIONS) : zlib.createInflateRaw(FLUSH_OPTIONS),
  br: () => zlib.createBrotliDecompress({ flush: zlib.constants.BROTLI_OPERATION_FLUSH }),
  zstd: zlib.createZstdDecompress // available since Node 22.15
    ? () => zlib.createZstdDecompress({ flush: zlib.constants.ZSTD_e_flush })
    : undefined,
}

/**
 * Decompresses a body while it is read. Returns `undefined` if it isn't compressed. (The gateway never requests compression, but some providers
 * compress anyway.) Reading rejects if the body is cut off or corrupt. Throws for an encoding that this Node version doesn't support.
 */
export function decodeBody(source: ByteStream, contentEncoding: string | string[] | undefined): ByteStream | undefined {
  if (contentEncoding === undefined) return undefined
  const names = String(contentEncoding)
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name && name !== 'identity')
  return names.length === 0 ? undefined : names.reduceRight(decode, source) // encodings are listed in the order in which they were applied
}

function decode(source: ByteStream, name: string): ByteStream {
  const createDecoder = Object.hasOwn(decoders, name) ? decoders[name] : undefined
  if (!createDecoder)
    throw new TypeError(`The upstream sent the content encoding "${name}", which is not supported here.`)
  let decoder: Transform | undefined
  let chunks: Promise<AsyncIterator<Uint8Array> | undefined> | undefined

  async function start() {
    const first = await source.next()
    if (!first) return undefined
    decoder = createDecoder?.(first)
    const input = Readable.from(prependChunk(first, source), { objectMode: false })
    return decoder && pipeline(input, decoder, () => {})[Symbol.asyncIterator]() // the iterator passes errors to the reader
  }

  return {
    async next() {
      chunks ??= start()
      return (await (await chunks)?.next())?.value
    },
    cancel(reason) {
      source.cancel(reason)
      decoder?.destroy()
    },
  }
}

async function* prependChunk(first: Uint8Array, source: ByteStream): AsyncGenerator<Uint8Array> {
  for (let chunk: Uint8Array | undefined = first; chunk; chunk = await source.next()) yield chunk
}
