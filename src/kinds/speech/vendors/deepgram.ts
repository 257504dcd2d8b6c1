import { charactersIn, RATE, speechForm } from '../speech.ts'

/**
 * https://developers.deepgram.com/reference/text-to-speech. The voice is a part of the model's name: `aura-2` with the voice `thalia` is
 * `aura-2-thalia-en`. A voice beside a whole name is left out.
 */
export const deepgram = speechForm({
  name: 'deepgram',
  providers: ['deepgram'],
  keyHeader: 'token',
  formats: { mp3: 'mp3', wav: 'wav', pcm: 'none', opus: 'ogg', flac: 'flac', aac: 'aac' },
  otherwise: 'mp3',
  voice: '',
  takes: ['speed', 'language'],
  request: ({ input, speed, language }, { voice, format, target }) => ({
    path: '/speak',
    query: { model: modelWith(target.model, voice ?? '', language), ...encodings[format], speed },
    body: { text: input },
  }),
  usageIn: charactersIn('dg-char-count'),
})

const encodings: Readonly<Record<string, Record<string, string | number>>> = {
  mp3: { encoding: 'mp3' },
  wav: { encoding: 'linear16', container: 'wav', sample_rate: RATE },
  none: { encoding: 'linear16', container: 'none', sample_rate: RATE },
  ogg: { encoding: 'opus', container: 'ogg' },
  flac: { encoding: 'flac' },
  aac: { encoding: 'aac' },
}

/** A voice may be a whole name of a model, too. */
function modelWith(model: string, voice: string, language = 'en'): string {
  if (/^aura(?:-2)?-\w+-\w\w$/.test(voice)) return voice
  return /^aura(?:-2)?$/.test(model) ? `${model}-${voice || DEFAULT_VOICE}-${language}` : model
}

const DEFAULT_VOICE = 'thalia'
