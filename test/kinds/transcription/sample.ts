import { concatBytes, toBase64 } from '../../../src/lib/bytes.ts'
import { writeWavHeader } from '../../../src/protocols/kinds/sound/wav.ts'
import type { KindSample } from '../samples.ts'

/** A WAV file with 0.2 s of audio. */
export const wav = concatBytes([
  writeWavHeader(24_000, 9_600),
  Uint8Array.from({ length: 9_600 }, (_, index) => (index * 7) % 256),
])

const body = { input_audio: { data: toBase64(wav), format: 'wav' } }
const response = { text: 'Hi', usage: { type: 'tokens', input_tokens: 1, output_tokens: 1, total_tokens: 2 } }

export const transcription: KindSample = {
  bodies: { openai: body, 'ai-sdk': { audio: toBase64(wav), mediaType: 'audio/wav' } },
  path: '/audio/transcriptions',
  response,
}
export const translation: KindSample = { bodies: { 'openai-translation': body }, path: '/audio/translations', response }

/** A document of one page. */
export const ocr: KindSample = {
  bodies: { mistral: { document: { type: 'document_url', document_url: 'https://documents.test/a.pdf' } } },
  path: '/ocr',
  response: { pages: [{ index: 0, markdown: 'Hi' }], model: 'm', usage_info: { pages_processed: 1 } },
}
