import { type ComponentChildren, h } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { shown } from '../format.ts'
import { common } from '../texts/frame.ts'
import { Button, Problem } from './basics.tsx'

type FieldProps = {
  label: string
  hint?: string | undefined
  error?: string | undefined
}

/** What a field shows and changes: a signal, or a part of one. */
interface Bound<Value> {
  value: Value
}

/** A member of an object in a signal, as a field takes it. */
export const part = <T extends object, Name extends keyof T>(of: Bound<T>, name: Name): Bound<T[Name]> => ({
  get value() {
    return of.value[name]
  },
  set value(value) {
    of.value = { ...of.value, [name]: value }
  },
})

/** An element of a list in a signal, likewise. */
export const element = <T,>(of: Bound<T[]>, one: T): Bound<T> => ({
  get value() {
    return one
  },
  set value(value) {
    of.value = of.value.map((other) => (other === one ? value : other))
  },
})

type LabelledProps = FieldProps & {
  /** Gets the ids of what labels and describes it. */
  children: (ids: { id: string; 'aria-describedby': string | undefined; 'aria-invalid': boolean }) => ComponentChildren
}

/** A labelled field; what is wrong with it stands beside it. */
function Field({ label, hint, error, children }: LabelledProps) {
  const id = useId()
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ')
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, 'aria-describedby': described || undefined, 'aria-invalid': error !== undefined })}
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {error && (
        <p class="error" id={`${id}-error`}>
          {error}
        </p>
      )}
    </div>
  )
}

type TextFieldProps = FieldProps & {
  of: Bound<string>
  type?: 'text' | 'password' | 'search' | 'datetime-local' | 'number'
  required?: boolean
  autocomplete?: 'off' | 'current-password'
  placeholder?: string
  /** The id of a list of suggestions. */
  list?: string
  min?: number
  step?: number | 'any'
}

export function TextField({ label, hint, error, of, ...more }: TextFieldProps) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(ids) =>
        // The types of tags know each type of an input apart; they have no one of any type.
        h('input', {
          autocomplete: 'off',
          ...more,
          ...ids,
          value: of.value,
          onInput: ({ currentTarget }) => (of.value = currentTarget.value),
        })
      }
    </Field>
  )
}

/** A number as it is typed; empty for none. */
export const NumberField = (props: Omit<TextFieldProps, 'type'>) => (
  <TextField min={0} step="any" {...props} type="number" />
)

/** A whole number from one on. */
export const CountField = (props: Omit<TextFieldProps, 'type'>) => <NumberField min={1} step={1} {...props} />

type TextAreaProps = FieldProps & {
  of: Bound<string>
  rows: number
  class?: 'mono'
  readOnly?: boolean
  isSelected?: boolean
}

/** A text of several lines. `isSelected`: all of it, so that it can be copied. */
export function TextArea({ label, hint, error, of, isSelected = false, ...more }: TextAreaProps) {
  const field = useRef<HTMLTextAreaElement>(null)
  useEffect(() => {
    if (isSelected) field.current?.select()
  }, [of.value])
  return (
    <Field label={label} hint={hint} error={error}>
      {(ids) => (
        <textarea
          {...more}
          {...ids}
          ref={field}
          spellcheck={false}
          value={of.value}
          onInput={({ currentTarget }) => (of.value = currentTarget.value)}
        />
      )}
    </Field>
  )
}

/** What a list offers: a value and its text, or a value that is its own text. */
export type Choice<Value extends string> = Value | readonly [value: Value, text: string]

/** The choices of a table of texts. */
export const choicesOf = <Value extends string>(texts: Readonly<Record<Value, string>>) =>
  (Object.keys(texts) as Value[]).map((value) => [value, texts[value]] as const) // its own members

type SelectFieldProps<Value extends string> = FieldProps & {
  of: Bound<Value>
  options: ReadonlyArray<Choice<Value>>
}

export function SelectField<Value extends string>({ label, hint, error, of, options }: SelectFieldProps<Value>) {
  const choices = options.map((one) => (typeof one === 'string' ? ([one, one] as const) : one))
  return (
    <Field label={label} hint={hint} error={error}>
      {(ids) => (
        <select
          {...ids}
          value={of.value}
          onChange={({ currentTarget }) => {
            const [chosen] = choices.find(([value]) => value === currentTarget.value) ?? []
            if (chosen !== undefined) of.value = chosen
          }}
        >
          {choices.map(([value, text]) => (
            <option key={value} value={value}>
              {shown(text)}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

export const CheckField = ({ label, of }: { label: string; of: Bound<boolean> }) => (
  <label class="check">
    <input type="checkbox" checked={of.value} onChange={({ currentTarget }) => (of.value = currentTarget.checked)} />
    {label}
  </label>
)

/** Values that a field suggests. */
export const Suggestions = ({ id, of = [] }: { id: string; of: ReadonlyArray<Choice<string>> | undefined }) => (
  <datalist id={id}>
    {of.map((one) => {
      const [value, text] = typeof one === 'string' ? [one] : one
      return (
        <option key={value} value={value}>
          {text}
        </option>
      )
    })}
  </datalist>
)

type FormProps = {
  /** What sends it. */
  of: { run: () => Promise<unknown>; isBusy: Bound<boolean>; error: Bound<string | undefined> }
  submit?: string
  kind?: 'primary' | 'danger'
  /** Are the fields and the button in one row? */
  isRow?: boolean
  /** Does it change something? */
  writes?: boolean
  /** What stands beside the button. */
  beside?: ComponentChildren
  children: ComponentChildren
}

/** A form with its button, and what went wrong between them. */
export function Form({
  of,
  submit = common.save,
  kind = 'primary',
  isRow,
  writes = true,
  beside,
  children,
}: FormProps) {
  const button = (
    <Button writes={writes} kind={isRow ? undefined : kind} type="submit" disabled={of.isBusy.value}>
      {submit}
    </Button>
  )
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void of.run()
      }}
    >
      {isRow ? (
        <div class="row">
          {children}
          <div class="field">{button}</div>
        </div>
      ) : (
        children
      )}
      <Problem>{of.error.value}</Problem>
      {!isRow && (
        <p class="tools">
          {button}
          {beside}
        </p>
      )}
    </form>
  )
}
