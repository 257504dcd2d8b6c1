import { toBase64 } from '../../../lib/bytes.ts'
import { extensionOf } from '../../../lib/multipart.ts'
import { cannotCarry, formOf, type HearingForm, needsTimes, noteLost, transcriptIn } from '../transcription.ts'

/** In bytes: larger files are sent as a form, which takes less memory than base64. */
const MAX_INLINE = 8 * 1024 * 1024

/** https://openrouter.ai/docs/features/multimodal/audio: JSON with the sound in base64. */
export const openrouter: HearingForm = {
  name: 'openrouter',
  providers: ['openrouter'],
  request(asked, { target, warnings }) {
    if (asked.task === 'translate') return cannotCarry('model', target, 'does not translate')
    if (asked.format === 'diarized_json') return cannotCarry('response_format', target, 'does not tell speakers apart')
    noteLost(asked, ['language', 'temperature'], warnings)
    const { file, language, temperature, granularities } = asked
    const fields = {
      model: target.model,
      ...(language !== undefined && { language }),
      ...(temperature !== undefined && { temperature }),
      response_format: needsTimes(asked) ? 'verbose_json' : 'json',
    }
    if (file.bytes.length > MAX_INLINE)
      return {
        path: '/audio/transcriptions',
        form: formOf({ ...fields, 'timestamp_granularities[]': granularities }, file),
      }
    const named = file.fileName.slice(file.fileName.lastIndexOf('.') + 1).toLowerCase()
    const format = /^[a-z\d]{2,5}$/.test(named) ? named : extensionOf(file.type)
    return {
      path: '/audio/transcriptions',
      body: {
        ...fields,
        ...(granularities.length > 0 && { timestamp_granularities: granularities }),
        input_audio: { data: toBase64(file.bytes), format },
      },
    }
  },
  answer: transcriptIn,
}
