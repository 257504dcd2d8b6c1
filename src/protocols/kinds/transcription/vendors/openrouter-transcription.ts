import { toBase64 } from '../../../../lib/bytes.ts'
import { getFileExtension } from '../../../../lib/multipart.ts'
import {
  needsTimestamps,
  readTranscript,
  recordUnsupported,
  type TranscriptionAdapter,
  throwFormatMismatch,
  writeForm,
} from '../transcription.ts'

/** Maximum file size to send in JSON, in bytes. Larger files are sent as a form, which takes less memory than base64. */
const MAX_INLINE_BYTES = 8 * 1024 * 1024

/** https://openrouter.ai/docs/features/multimodal/audio: JSON with audio in base64. */
export const openrouter: TranscriptionAdapter = {
  name: 'openrouter',
  providers: ['openrouter'],
  writeRequest(request, { target, warnings }) {
    if (request.task === 'translate') return throwFormatMismatch('model', target, 'does not translate')
    if (request.format === 'diarized_json')
      return throwFormatMismatch('response_format', target, 'does not distinguish speakers')
    recordUnsupported(request, ['language', 'temperature'], warnings)
    const { file, language, temperature, granularities } = request
    const fields = {
      model: target.model,
      ...(language !== undefined && { language }),
      ...(temperature !== undefined && { temperature }),
      response_format: needsTimestamps(request) ? 'verbose_json' : 'json',
    }
    if (file.bytes.length > MAX_INLINE_BYTES)
      return {
        path: '/audio/transcriptions',
        form: writeForm({ ...fields, 'timestamp_granularities[]': granularities }, file),
      }
    const extension = file.fileName.slice(file.fileName.lastIndexOf('.') + 1).toLowerCase()
    const format = /^[a-z\d]{2,5}$/.test(extension) ? extension : getFileExtension(file.type)
    return {
      path: '/audio/transcriptions',
      body: {
        ...fields,
        ...(granularities.length > 0 && { timestamp_granularities: granularities }),
        input_audio: { data: toBase64(file.bytes), format },
      },
    }
  },
  readResponse: readTranscript,
}
