import { isObject, tryParseJson } from '../../../../lib/json.ts'
import { type FormPart, isFile } from '../../../../lib/multipart.ts'
import { readEmbeddedError } from '../../../formats/errors/embedded-errors.ts'
import type { PassThrough, StreamContent } from '../../kind-adapters.ts'
import {
  readTranscript,
  readUsage,
  recordUnsupported,
  type TranscriptionAdapter,
  type TranscriptionRequest,
  throwFormatMismatch,
  writeForm,
} from '../transcription.ts'

const getPath = (task: TranscriptionRequest['task']) =>
  task === 'translate' ? '/audio/translations' : '/audio/transcriptions'

function readEvent(json: unknown): StreamContent<unknown> {
  if (!isObject(json)) return {}
  const error = readEmbeddedError(json.error)
  if (error) return { error, usage: readUsage(json.usage) }
  if (json.type === 'transcript.text.done') return { chunks: [json], isLast: true, usage: readUsage(json.usage) }
  return json.type === 'transcript.text.delta' || json.type === 'transcript.text.segment' ? { chunks: [json] } : {}
}

const createPassThrough = (
  client: string,
  task: TranscriptionRequest['task'],
  {
    acceptsRequest,
    supportsStreams,
  }: { acceptsRequest: (request: TranscriptionRequest) => boolean; supportsStreams: boolean },
): PassThrough<TranscriptionRequest> => ({
  client,
  path: () => getPath(task),
  accepts: (request) => request.isForm && acceptsRequest(request),
  getExcludedFields: () => (supportsStreams ? [] : ['stream']),
  rewriteForm: normalizeForm,
  createStream: ({ isStream }) =>
    isStream ? { framing: 'events', read: ({ data }) => readEvent(tryParseJson(data)) } : undefined,
})

/** Uses OpenAI's field names for lists, and a file name that matches the format. */
const normalizeForm = (parts: readonly FormPart[], { file }: TranscriptionRequest): FormPart[] =>
  parts.map((part) => {
    if (isFile(part)) return part.name === 'file' ? { ...part, ...file } : part
    const name = part.name.replace(/\[\d{0,3}\]$/, '')
    return LIST_FIELDS.has(name) ? { ...part, name: `${name}[]` } : part
  })

const LIST_FIELDS: ReadonlySet<string> = new Set([
  ...['timestamp_granularities', 'include', 'known_speaker_names', 'known_speaker_references', 'keywords', 'languages'],
])

/** Returns whether to request times; only Whisper models support them. */
const canAddTimestamps = ({ acceptsTimestamps, format }: TranscriptionRequest, model: string) =>
  acceptsTimestamps === true && format === 'json' && /whisper/i.test(model)

const createAdapter = (
  adapter: Pick<TranscriptionAdapter, 'name' | 'providers'>,
  { formats, supportsStreams }: { formats: readonly string[]; supportsStreams: boolean },
): TranscriptionAdapter => {
  const acceptsRequest = ({ format, isStream }: TranscriptionRequest) =>
    formats.includes(format) && (supportsStreams || !isStream)
  return {
    ...adapter,
    textField: 'text',
    passThrough: [
      createPassThrough('openai', 'transcribe', { acceptsRequest, supportsStreams }),
      createPassThrough('openai-translation', 'translate', { acceptsRequest, supportsStreams }),
    ],
    writeRequest(request, { target, warnings }) {
      recordUnsupported(request, ['language', 'prompt', 'temperature', 'keywords'], warnings)
      if (request.format === 'diarized_json' && !formats.includes('diarized_json'))
        return throwFormatMismatch('response_format', target, 'does not distinguish speakers')
      return {
        path: getPath(request.task),
        form: writeForm(
          {
            model: target.model,
            language: request.language,
            prompt: request.prompt,
            'keywords[]': request.keywords,
            temperature: request.temperature,
            response_format:
              formats.includes(request.format) && !request.isStream && !canAddTimestamps(request, target.model)
                ? request.format
                : 'verbose_json',
            'timestamp_granularities[]': request.granularities,
          },
          request.file,
        ),
      }
    },
    readResponse: readTranscript,
  }
}

const RESPONSE_FORMATS = ['json', 'text', 'srt', 'verbose_json', 'vtt', 'diarized_json']

/** https://platform.openai.com/docs/api-reference/audio/createTranscription, and all compatible servers. */
export const openaiCompatible = createAdapter(
  { name: 'compatible' },
  { formats: RESPONSE_FORMATS, supportsStreams: true },
)

/** https://console.groq.com/docs/api-reference#audio-transcription. Groq doesn't support subtitles and streams, so the gateway creates them. */
export const groq = createAdapter(
  { name: 'groq', providers: ['groq'] },
  { formats: ['json', 'text', 'verbose_json'], supportsStreams: false },
)
