import {
  type GuardKind,
  type GuardOption,
  guardKinds,
  sharedGuardFields,
} from '../../../../types/records/guard-fields.ts'
import { getNumberBounds } from '../number-bounds.ts'
import { useAction, useSignal } from '../page-data.ts'
import { type api, changeRecord, uncheckedApi } from '../session.ts'
import {
  bindField,
  bindValue,
  CheckFields,
  Form,
  NumberField,
  SelectField,
  TextArea,
  TextField,
  toLabel,
} from '../ui/forms.tsx'
import { fromPairs, PairFields, toPairs } from '../ui/pair-fields.tsx'

export type Guard = Awaited<ReturnType<typeof api.value.guards.list>>['guards'][number]

/** Labels for the kinds whose names aren't plain English. */
const kindLabels: Readonly<Partial<Record<GuardKind, string>>> = {
  words: 'Words and phrases',
  pii: 'Personal data',
  invisible: 'Invisible characters',
  change: 'Changes to requests',
  http: 'Your own service',
}

/** Labels for the options whose names aren't plain English, and their default choices. */
const optionLabels: Readonly<Record<string, readonly [label: string, fallback?: string]>> = {
  words: ['Words and phrases'],
  patterns: ['Patterns (RE2 syntax)'],
  action: ['What to do with matches', 'refuse'],
  allow: ['Allowed tools'],
  deny: ['Rejected tools'],
  hosted: ['Tools that a provider runs', 'pass'],
  prepend: ['System text to add first'],
  append: ['System text to add last'],
  set: ['Parameters to set'],
  max: ['Maximum parameters'],
  url: ['URL'],
  changes: ['May change texts'],
  allowPrivate: ['May be in a private network'],
  on: ['Checks'],
  mode: ['Mode', 'enforce'],
  message: ['Rejection message'],
  as: ['Response to rejected requests', 'error'],
  older: ['Rejected text in older turns', 'remove'],
  onError: ['If the guard fails', 'refuse'],
  stage: ['When it runs', 'before'],
  timeoutMs: ['Timeout (ms)'],
  media: ['Media that guards can’t read', 'pass'],
  remote: ['Media named by URL or file ID', 'pass'],
  hold: ['Held part of streams', 'window'],
  maxMatch: ['Longest match (characters)'],
}

/** Labels for choices whose names aren't plain English. A key that starts with an option's name applies only to that option. */
const choiceLabels: Readonly<Record<string, string>> = {
  refuse: 'Reject',
  pass: 'Let pass',
  mask: 'Mask',
  replace: 'Replace with the type',
  remove: 'Remove',
  enforce: 'Enforce',
  watch: 'Watch (report verdicts only)',
  request: 'Requests',
  answer: 'Responses',
  error: 'Error 400',
  'as.answer': 'Response without text',
  before: 'Before the call',
  during: 'During the call',
  window: 'Last characters',
  all: 'Everything',
}

const getChoiceLabel = (field: string, choice: string) =>
  choiceLabels[`${field}.${choice}`] ?? choiceLabels[choice] ?? choice

const COMMON_FIELDS = ['on', 'mode', 'message']

/** Renders the form for a guard. Fields that few guards need are collapsed. */
export function GuardForm({ guard, onSaved }: { guard: Guard | undefined; onSaved: () => void }) {
  const name = useSignal(guard?.name ?? '')
  const kind = useSignal<GuardKind>(guard?.kind ?? 'words')
  const texts = useSignal<Record<string, string>>(toTexts(guard))
  const pairs = useSignal({ thresholds: toPairs(guard?.thresholds), headers: toPairs(guard?.headers) })
  const options: Array<[string, GuardOption]> = Object.entries(sharedGuardFields)
  const listKindOptions = (): Array<[string, GuardOption]> => Object.entries(guardKinds[kind.value])
  const saveAction = useAction(async () => {
    const input: Record<string, unknown> = { kind: kind.value }
    for (const [field, { shape }] of [...listKindOptions(), ...options]) {
      const value = isPairField(field)
        ? fromPairs<string | number>(pairs.value[field], field === 'headers' ? String : Number)
        : parseOption(shape.type, texts.value[field])
      if (value !== null || (guard && field in guard)) input[field] = value
    }
    if (!guard) await uncheckedApi.value.guards.create({ name: name.value.trim(), ...input })
    else await changeRecord(guard, (ifMatch) => uncheckedApi.value.guards.update(guard.name, input, ifMatch))
    onSaved()
  })
  const renderField = ([field, option]: [string, GuardOption]) =>
    isPairField(field) ? (
      <PairFields
        key={field}
        title={toLabel(field)}
        path={field}
        noun={field.slice(0, -1)}
        hint={pairHints[field]}
        of={bindField(pairs, field)}
      />
    ) : (
      <OptionField key={field} field={field} kind={kind.value} option={option} of={bindField(texts, field)} />
    )
  return (
    <Form of={saveAction} submit={guard ? 'Save' : 'Create'}>
      {!guard && <TextField label="Name" path="name" required of={name} />}
      {!guard && (
        <SelectField
          label="Kind"
          path="kind"
          of={kind}
          options={kindNames.map((kindName) => [kindName, getKindLabel(kindName)])}
        />
      )}
      {[...listKindOptions(), ...options.filter(([field]) => COMMON_FIELDS.includes(field))].map(renderField)}
      <details>
        <summary>More options</summary>
        {options.filter(([field]) => !COMMON_FIELDS.includes(field)).map(renderField)}
      </details>
    </Form>
  )
}

const kindNames = Object.keys(guardKinds) as GuardKind[] // `guardKinds` has no other keys

export const getKindLabel = (kind: GuardKind): string => kindLabels[kind] ?? toLabel(kind)

interface OptionFieldProps {
  field: string
  kind: GuardKind
  option: GuardOption
  of: { value: string | undefined }
}

function OptionField({ field, kind, option: { shape, isOptional }, of }: OptionFieldProps) {
  const [label = toLabel(field), fallback] = optionLabels[field] ?? []
  const boundText = bindValue(of.value ?? '', (text) => (of.value = text))
  const commonProps = { label, path: field, of: boundText, required: !isOptional }
  if (shape.type === 'number') return <NumberField {...commonProps} {...getNumberBounds(shape)} />
  if (shape.type === 'choice') {
    const defaultChoice = kind === 'invisible' && field === 'action' ? 'remove' : fallback
    const choices = shape.of.map((choice) => [choice, getChoiceLabel(field, choice)] as const)
    return (
      <SelectField
        label={label}
        path={field}
        of={boundText}
        options={[['', defaultChoice ? `Default: ${getChoiceLabel(field, defaultChoice)}` : 'None'], ...choices]}
      />
    )
  }
  if (shape.type === 'list' && shape.of.type === 'choice')
    return (
      <fieldset>
        <legend>{label}</legend>
        <div class="checks">
          <CheckFields
            of={bindValue(
              splitLines(boundText.value),
              (selectedChoices) => (boundText.value = selectedChoices.join('\n')),
            )}
            options={shape.of.of.map((choice) => [choice, getChoiceLabel(field, choice)])}
          />
        </div>
        <p class="hint">Leave all unchecked for all.</p>
      </fieldset>
    )
  if (shape.type === 'list') return <TextArea rows={3} {...commonProps} hint="One per line." />
  if (shape.type === 'object')
    return <TextArea rows={2} {...commonProps} hint={`JSON with ${Object.keys(shape.fields).join(', ')}.`} />
  if (shape.type === 'map')
    return <TextArea rows={4} {...commonProps} hint={'JSON Schemas by tool: {"search": {"required": ["query"]}}'} />
  if (shape.type === 'flag')
    return (
      <SelectField
        label={label}
        path={field}
        of={boundText}
        options={[
          ['', 'Default: No'],
          ['true', 'Yes'],
        ]}
      />
    )
  return field === 'model' || field === 'url' ? <TextField {...commonProps} /> : <TextArea rows={2} {...commonProps} />
}

const toTexts = (guard: object = {}): Record<string, string> =>
  Object.fromEntries(
    Object.entries(guard).map(([field, value]) => [
      field,
      Array.isArray(value) ? value.join('\n') : typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  )

const splitLines = (text: string) => text.split('\n').flatMap((line) => line.trim() || [])

/** The hints for fields that map names to numbers or strings. */
const pairHints = {
  thresholds: 'Scores from 0 to 1, such as violence: 0.8.',
  headers: 'Stored encrypted.',
}

type PairField = keyof typeof pairHints

const isPairField = (field: string): field is PairField => field in pairHints

/** Parses JSON. Returns invalid JSON as a string, which the API then rejects. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Returns a field's value, or `null` if it is empty. */
function parseOption(type: string, text = ''): unknown {
  if (text.trim() === '') return null
  if (type === 'list') return splitLines(text)
  return type === 'text' || type === 'choice' ? text : parseJson(text)
}
