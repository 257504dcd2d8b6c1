import { toBase64 } from '../../../../lib/bytes.ts'
import { isObject } from '../../../../lib/json.ts'
import { readUsage, recordUnsupported, type TranscriptionAdapter, throwFormatMismatch } from '../transcription.ts'
import { parseTranscript, writePrompt } from '../transcription-prompt.ts'

const MAX_INLINE_BYTES = 14 * 1024 * 1024

/** OpenAI-compatible chat models with audio input, in MP3 or WAV: https://platform.openai.com/docs/guides/audio */
export const chat: TranscriptionAdapter = {
  name: 'chat',
  matches: ({ format, model }) =>
    format === 'openai-chat' && /(?:^|\/)(?:gpt-audio|gpt-4o-(?:mini-)?audio|gemini-)|omni/.test(model),
  writeRequest(request, { target, warnings }) {
    recordUnsupported(request, ['language', 'prompt', 'temperature', 'keywords'], warnings)
    const { file, temperature } = request
    if (file.bytes.length > MAX_INLINE_BYTES)
      return throwFormatMismatch('file', target, `only accepts files of up to ${MAX_INLINE_BYTES} bytes`)
    const format = /mpeg|mp3/.test(file.type) ? 'mp3' : /wav/.test(file.type) ? 'wav' : undefined
    if (!format) return throwFormatMismatch('file', target, 'only accepts MP3 and WAV')
    return {
      path: '/chat/completions',
      body: {
        model: target.model,
        messages: [
          {
            role: 'user',
            content: [
              { type: 'input_audio', input_audio: { data: toBase64(file.bytes), format } },
              { type: 'text', text: writePrompt(request) },
            ],
          },
        ],
        ...(temperature !== undefined && { temperature }),
      },
    }
  },
  readResponse({ choices, usage }, request) {
    const [choice] = Array.isArray(choices) ? choices : []
    const message = isObject(choice) ? choice.message : undefined
    const text = isObject(message) ? message.content : undefined
    if (typeof text !== 'string') return 'text'
    const transcript = parseTranscript(text, request)
    return typeof transcript === 'string' ? transcript : { ...transcript, usage: readUsage(usage) }
  },
}
