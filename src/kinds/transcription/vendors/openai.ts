import { embeddedError } from '../../../formats/errors/embedded.ts'
import { isObject, tryParseJson } from '../../../lib/json.ts'
import type { PassedForm, SaidPieces } from '../../forms.ts'
import {
  cannotCarry,
  formOf,
  type Hearing,
  type HearingForm,
  noteLost,
  transcriptIn,
  usageIn,
} from '../transcription.ts'

const pathOf = (task: Hearing['task']) => (task === 'translate' ? '/audio/translations' : '/audio/transcriptions')

function saidIn(json: unknown): SaidPieces<unknown> {
  if (!isObject(json)) return {}
  const error = embeddedError(json.error)
  if (error) return { error }
  if (json.type === 'transcript.text.done') return { pieces: [json], isLast: true, usage: usageIn(json.usage) }
  return json.type === 'transcript.text.delta' || json.type === 'transcript.text.segment' ? { pieces: [json] } : {}
}

const passing = (
  client: string,
  task: Hearing['task'],
  { isOpen, streams }: { isOpen: (asked: Hearing) => boolean; streams: boolean },
): PassedForm<Hearing> => ({
  client,
  path: () => pathOf(task),
  isOpen: (asked) => asked.isForm && isOpen(asked),
  without: () => (streams ? [] : ['stream']),
  stream: ({ isStream }) => (isStream ? { of: 'events', read: ({ data }) => saidIn(tryParseJson(data)) } : undefined),
})

/** May the answer have times, at a model that tells them? The others refuse to. */
const isTimedAnyway = ({ takesTimes, format }: Hearing, model: string) =>
  takesTimes === true && format === 'json' && /whisper/i.test(model)

const form = (
  own: Pick<HearingForm, 'name' | 'providers'>,
  { formats, streams }: { formats: readonly string[]; streams: boolean },
): HearingForm => {
  const isOpen = ({ format, isStream }: Hearing) => formats.includes(format) && (streams || !isStream)
  return {
    ...own,
    textAs: 'text',
    passes: [
      passing('openai', 'transcribe', { isOpen, streams }),
      passing('openai-translation', 'translate', { isOpen, streams }),
    ],
    request(asked, { target, warnings }) {
      noteLost(asked, ['language', 'prompt', 'temperature', 'keywords'], warnings)
      if (asked.format === 'diarized_json' && !formats.includes('diarized_json'))
        return cannotCarry('response_format', target, 'does not tell speakers apart')
      return {
        path: pathOf(asked.task),
        form: formOf(
          {
            model: target.model,
            language: asked.language,
            prompt: asked.prompt,
            'keywords[]': asked.keywords,
            temperature: asked.temperature,
            response_format:
              formats.includes(asked.format) && !asked.isStream && !isTimedAnyway(asked, target.model)
                ? asked.format
                : 'verbose_json',
            'timestamp_granularities[]': asked.granularities,
          },
          asked.file,
        ),
      }
    },
    answer: transcriptIn,
  }
}

const ALL = ['json', 'text', 'srt', 'verbose_json', 'vtt', 'diarized_json']

/** https://platform.openai.com/docs/api-reference/audio/createTranscription, and every server that speaks this form. */
export const compatible = form({ name: 'compatible' }, { formats: ALL, streams: true })

/** https://console.groq.com/docs/api-reference#audio-transcription: without subtitles and streams, which are made here. */
export const groq = form(
  { name: 'groq', providers: ['groq'] },
  { formats: ['json', 'text', 'verbose_json'], streams: false },
)
