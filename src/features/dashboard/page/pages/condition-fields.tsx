import { bindValue, NumberField, SelectField, TextField, toChoices } from '../ui/forms.tsx'

/** Renders fields for the common parts of an entry's condition, which is JSON. */
export function ConditionFields({ of }: { of: { value: string } }) {
  const condition = isCondition(of.value) ? parseCondition(of.value) : {}
  const bindMember = (name: string, displayValue: string, parse: (text: string) => unknown) =>
    bindValue(displayValue, (text) => {
      const { [name]: _, ...otherMembers } = condition
      const value = text === '' ? undefined : parse(text)
      const changedCondition = value === undefined ? otherMembers : { ...otherMembers, [name]: value }
      of.value = Object.keys(changedCondition).length > 0 ? JSON.stringify(changedCondition) : ''
    })
  const { model = '', bytes } = condition
  const bindSize = (end: 'min' | 'max') => {
    const sizes: object = typeof bytes === 'object' && bytes !== null ? bytes : {}
    const { [end]: currentValue, ...otherSize } = sizes as Partial<Record<'min' | 'max', unknown>>
    const field = bindMember('bytes', String(currentValue ?? ''), (text) => ({ ...sizes, [end]: Number(text) }))
    const clearedField = bindMember('bytes', '', () => (Object.keys(otherSize).length > 0 ? otherSize : undefined))
    return bindValue(field.value, (text) => {
      if (text === '') clearedField.value = 'without'
      else field.value = text
    })
  }
  return (
    <details class="params">
      <summary>Condition builder</summary>
      <div class="row">
        <TextField
          label="Requested model"
          of={bindMember('model', String(model), (text) => (text.includes(',') ? text.split(',') : text))}
        />
        {toChoices({ stream: 'Streaming', tools: 'Has tools', images: 'Has images' }).map(([name, label]) => (
          <SelectField
            key={name}
            label={label}
            of={bindMember(name, String(condition[name] ?? ''), (text) => text === 'true')}
            options={toChoices({ '': 'Any', true: 'Yes', false: 'No' })}
          />
        ))}
        <NumberField label="Min body size (bytes)" of={bindSize('min')} />
        <NumberField label="Max body size (bytes)" of={bindSize('max')} />
      </div>
      <p class="hint">For headers and metadata, edit the JSON above.</p>
    </details>
  )
}

/** Parses JSON. Returns invalid JSON as a string, so the gateway's error explains what to enter. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Returns whether the text is empty or a JSON object. */
export const isCondition = (text: string) => {
  const value = parseCondition(text)
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const parseCondition = (text: string) => (text.trim() === '' ? {} : parseJson(text)) as Record<string, unknown> // the gateway validates it
