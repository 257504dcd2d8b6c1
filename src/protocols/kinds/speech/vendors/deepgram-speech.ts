import type { Warnings } from '../../../formats/canonical/canonical-warnings.ts'
import { createCharacterReader, createSpeechAdapter, SAMPLE_RATE } from '../speech.ts'

/**
 * https://developers.deepgram.com/reference/text-to-speech. The voice is part of the model name: `aura-2` with the voice `thalia` is
 * `aura-2-thalia-en`.
 */
export const deepgram = createSpeechAdapter({
  name: 'deepgram',
  providers: ['deepgram'],
  keyHeader: 'token',
  formats: { mp3: 'mp3', wav: 'wav', pcm: 'none', opus: 'ogg', flac: 'flac', aac: 'aac' },
  fallbackFormat: 'mp3',
  voice: '',
  supports: ['speed', 'language'],
  writeRequest: ({ input, speed, language }, { voice = '', format, target, warnings }) => ({
    path: '/speak',
    query: { model: addVoice(target.model, { voice, language }, warnings), ...encodings[format], speed },
    body: { text: input },
  }),
  readHeaderUsage: createCharacterReader('dg-char-count'),
})

const encodings: Readonly<Record<string, Record<string, string | number>>> = {
  mp3: { encoding: 'mp3' },
  wav: { encoding: 'linear16', container: 'wav', sample_rate: SAMPLE_RATE },
  none: { encoding: 'linear16', container: 'none', sample_rate: SAMPLE_RATE },
  ogg: { encoding: 'opus', container: 'ogg' },
  flac: { encoding: 'flac' },
  aac: { encoding: 'aac' },
}

/**
 * Adds the voice to the model name. A voice can also be a complete model name. If the model name already includes a voice and a language, any other
 * voice is dropped.
 */
function addVoice(
  model: string,
  { voice, language }: { voice: string; language: string | undefined },
  warnings: Warnings,
): string {
  if (/^aura(?:-2)?$/.test(model) && !VOICE_NAME_PATTERN.test(voice)) {
    const isVoiceName = /^\w+$/.test(voice)
    if (voice !== '' && !isVoiceName) warnings.recordChange('voice', 'replaced')
    return `${model}-${isVoiceName ? voice.toLowerCase() : DEFAULT_VOICE}-${language ?? 'en'}`
  }
  const modelName = VOICE_NAME_PATTERN.test(voice) ? voice : model
  const [, voiceName, voiceLanguage = ''] = VOICE_NAME_PATTERN.exec(modelName) ?? []
  if (voice !== '' && voice !== modelName && voice.toLowerCase() !== voiceName)
    warnings.recordChange('voice', 'replaced')
  if (language !== undefined && !language.toLowerCase().startsWith(voiceLanguage || ' '))
    warnings.recordDrop('language')
  return modelName
}

const VOICE_NAME_PATTERN = /^aura(?:-2)?-(\w+)-(\w\w)$/
const DEFAULT_VOICE = 'thalia'
