import { toBase64 } from '../../../lib/bytes.ts'
import { isObject } from '../../../lib/json.ts'
import { promptFor, transcriptOf } from '../prompt.ts'
import { cannotCarry, type HearingForm, noteLost, usageIn } from '../transcription.ts'

const MAX_INLINE = 14 * 1024 * 1024

/** Models for chat in OpenAI's form that hear: https://platform.openai.com/docs/guides/audio. They take MP3 and WAV. */
export const chat: HearingForm = {
  name: 'chat',
  isOf: ({ format, model }) =>
    format === 'openai-chat' && /(?:^|\/)(?:gpt-audio|gpt-4o-(?:mini-)?audio|gemini-)|omni/.test(model),
  request(asked, { target, warnings }) {
    noteLost(asked, ['language', 'prompt', 'temperature', 'keywords'], warnings)
    const { file, temperature } = asked
    if (file.bytes.length > MAX_INLINE) return cannotCarry('file', target, `takes files of up to ${MAX_INLINE} bytes`)
    const format = /mpeg|mp3/.test(file.type) ? 'mp3' : /wav/.test(file.type) ? 'wav' : undefined
    if (!format) return cannotCarry('file', target, 'hears MP3 and WAV alone')
    return {
      path: '/chat/completions',
      body: {
        model: target.model,
        messages: [
          {
            role: 'user',
            content: [
              { type: 'input_audio', input_audio: { data: toBase64(file.bytes), format } },
              { type: 'text', text: promptFor(asked) },
            ],
          },
        ],
        ...(temperature !== undefined && { temperature }),
      },
    }
  },
  answer({ choices, usage }, asked) {
    const [choice] = Array.isArray(choices) ? choices : []
    const message = isObject(choice) ? choice.message : undefined
    const text = isObject(message) ? message.content : undefined
    if (typeof text !== 'string') return 'a text'
    const transcript = transcriptOf(text, asked)
    return typeof transcript === 'string' ? transcript : { ...transcript, usage: usageIn(usage) }
  },
}
