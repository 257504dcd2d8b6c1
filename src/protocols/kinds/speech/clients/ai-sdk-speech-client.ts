import { toBase64 } from '../../../../lib/bytes.ts'
import { readFields } from '../../../formats/canonical/canonical-fields.ts'
import { dropUnread, findFirstOption, readProviderOptions, writeResponseFields } from '../../ai-sdk-kinds.ts'
import type { ClientAdapter } from '../../kind-adapters.ts'
import type { AudioChunk, SpeechRequest, SpeechResponse } from '../speech.ts'
import { isSpeed, SPEED_ERROR } from '../speech-clients.ts'

/** The AI SDK's gateway protocol. A response contains all audio in base64. */
export const aiSdk: ClientAdapter<SpeechRequest, SpeechResponse, AudioChunk> = {
  fieldNames: { input: 'text', response_format: 'outputFormat' },
  read(body, { warnings }) {
    const fields = readFields(body, '', warnings)
    const options = readProviderOptions(fields)
    const input = fields.string('text') ?? ''
    if (input.trim() === '') return warnings.reject('input', 'is required: the text to speak.')
    const speed = fields.number('speed') ?? findFirstOption(options, (option) => option.number('speed'))
    if (speed !== undefined && !isSpeed(speed)) return warnings.reject('speed', SPEED_ERROR)
    const request: SpeechRequest = {
      input,
      voice: fields.string('voice'),
      format: fields.string('outputFormat') ?? 'mp3',
      expectsEvents: false,
      expectsCompleteAudio: true,
      instructions:
        fields.string('instructions') ?? findFirstOption(options, (option) => option.string('instructions')),
      speed,
      language: fields.string('language') ?? findFirstOption(options, (option) => option.string('languageCode')),
      otherFieldNames: [],
    }
    dropUnread(fields, options, warnings)
    return request
  },
  write: ({ audio, usage }, context) => ({ audio: toBase64(audio), ...writeResponseFields(context, usage) }),
}
