import { type ComponentChildren, createContext, Fragment, h } from 'preact'
import { useContext, useEffect, useId, useLayoutEffect, useRef } from 'preact/hooks'
import { escapeInvisible, sanitize } from '../page-format.ts'
import { Button, Problem } from './basics.tsx'

type FieldProps = {
  label: string
  hint?: string | undefined
  error?: string | undefined
  /** The field's path in the API, such as `limits.usd.month`. The field shows errors that start with it. */
  path?: string | undefined
}

/** A form's field paths and its error. */
interface FormErrors {
  paths: Set<string>
  error: Bound<string | undefined>
}

const FormErrorsContext = createContext<FormErrors | undefined>(undefined)

/**
 * Finds the field that an error such as `"limits.usd.month" must be …` is about: the innermost field whose path matches or contains the error's path.
 */
function findField({ paths, error }: FormErrors): string | undefined {
  const [, path = ''] = /^(?:Unknown field )?"([^"]+)"/.exec(error.value ?? '') ?? []
  const matchingPaths = [...paths].filter(
    (errorPath) => path === errorPath || path.startsWith(`${errorPath}.`) || path.startsWith(`${errorPath}[`),
  )
  return matchingPaths.sort((a, b) => b.length - a.length)[0]
}

/** A value that a field shows and changes: a signal or part of one. */
interface Bound<Value> {
  value: Value
}

/** Binds a property of a signal's object. */
export const bindField = <T extends object, Name extends keyof T>(bound: Bound<T>, name: Name): Bound<T[Name]> => ({
  get value() {
    return bound.value[name]
  },
  set value(value) {
    bound.value = { ...bound.value, [name]: value }
  },
})

/** Binds a value to a change handler. */
export const bindValue = <T,>(value: T, change: (value: T) => void): Bound<T> => ({
  get value() {
    return value
  },
  set value(newValue) {
    change(newValue)
  },
})

/** Binds an element of a signal's list. */
export const bindElement = <T,>(bound: Bound<T[]>, item: T): Bound<T> =>
  bindValue(item, (value) => {
    bound.value = bound.value.map((other) => (other === item ? value : other))
  })

type LabeledProps = FieldProps & {
  /** Renders the input. Gets the IDs of the input and its description. */
  children: (ids: { id: string; 'aria-describedby': string | undefined; 'aria-invalid': boolean }) => ComponentChildren
}

function Field({ label, hint, error: fieldError, path, children }: LabeledProps) {
  const id = useId()
  const form = useContext(FormErrorsContext)
  useLayoutEffect(() => {
    if (!form || path === undefined) return undefined
    form.paths.add(path)
    return () => void form.paths.delete(path)
  }, [form, path])
  const formError = form && path !== undefined && findField(form) === path ? form.error.value : undefined
  useEffect(() => {
    const field = formError && document.getElementById(id)
    if (!field) return
    field.closest('details')?.setAttribute('open', '')
    field.focus()
  }, [formError])
  const error = fieldError ?? formError
  const descriptionIds = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ')
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, 'aria-describedby': descriptionIds || undefined, 'aria-invalid': error !== undefined })}
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {error && (
        <p class="error" id={`${id}-error`}>
          {escapeInvisible(error)}
        </p>
      )}
    </div>
  )
}

type TextFieldProps = FieldProps & {
  of: Bound<string>
  type?: 'text' | 'password' | 'search' | 'date' | 'datetime-local' | 'number'
  required?: boolean
  autocomplete?: 'off' | 'current-password'
  placeholder?: string
  /** The ID of a datalist with suggestions. */
  list?: string
  min?: number | undefined
  max?: number | undefined
  step?: number | 'any'
}

export function TextField({ label, hint, error, path, of, ...props }: TextFieldProps) {
  return (
    <Field label={label} hint={hint} error={error} path={path}>
      {(ids) =>
        // JSX has a separate type for each input type, but none for inputs whose type varies.
        h('input', {
          autocomplete: 'off',
          ...props,
          ...ids,
          value: of.value,
          onInput: ({ currentTarget }) => (of.value = currentTarget.value),
        })
      }
    </Field>
  )
}

/** Renders a field for a number, which may be empty. */
export const NumberField = (props: Omit<TextFieldProps, 'type'>) => (
  <TextField min={0} step="any" {...props} type="number" />
)

/** Renders a field for a positive integer. */
export const CountField = (props: Omit<TextFieldProps, 'type'>) => <NumberField min={1} step={1} {...props} />

type TextAreaProps = FieldProps & {
  of: Bound<string>
  rows: number
  class?: 'mono'
  readOnly?: boolean
  required?: boolean
  isSelected?: boolean
}

/** Renders a multiline field. `isSelected` selects the entire text for copying. */
export function TextArea({ label, hint, error, path, of, isSelected = false, ...props }: TextAreaProps) {
  const field = useRef<HTMLTextAreaElement>(null)
  useEffect(() => {
    if (isSelected) field.current?.select()
  }, [of.value])
  return (
    <Field label={label} hint={hint} error={error} path={path}>
      {(ids) => (
        <textarea
          {...props}
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

/** An option: a value with a label, or just a value that is also its own label. */
export type Choice<Value extends string> = Value | readonly [value: Value, text: string]

/** Formats a field or option name as a label, such as "Timeout ms" or "Least cost". */
export const toLabel = (name: string): string =>
  name.charAt(0).toUpperCase() +
  name
    .slice(1)
    .replace('-', ' ')
    .replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)

/** Converts an object that maps values to labels into a list of options. */
export const toChoices = <Value extends string>(labels: Readonly<Record<Value, string>>) =>
  (Object.keys(labels) as Value[]).map((value) => [value, labels[value]] as const) // `labels` has no other keys

/** Converts nonempty strings to numbers and omits empty ones. */
export const toNumbers = (values: Record<string, string>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(values).flatMap(([name, text]) => (text.trim() === '' ? [] : [[name, Number(text)]])),
  )

type SelectFieldProps<Value extends string> = FieldProps & {
  of: Bound<Value>
  options: ReadonlyArray<Choice<Value>>
}

export function SelectField<Value extends string>({ of, options, ...props }: SelectFieldProps<Value>) {
  const choices = options.map((option) => (typeof option === 'string' ? ([option, option] as const) : option))
  return (
    <Field {...props}>
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
              {sanitize(text)}
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

export const CheckFields = <Value extends string>({
  of,
  options,
}: {
  of: Bound<Value[]>
  options: ReadonlyArray<readonly [Value, string]>
}) => (
  <>
    {options.map(([value, label]) => (
      <CheckField
        key={value}
        label={label}
        of={bindValue(of.value.includes(value), (isChecked) => {
          of.value = options.flatMap(([choice]) =>
            (choice === value ? isChecked : of.value.includes(choice)) ? [choice] : [],
          )
        })}
      />
    ))}
  </>
)

/** Renders suggestions for a field. */
export const Suggestions = ({ id, of = [] }: { id: string; of: ReadonlyArray<Choice<string>> | undefined }) => (
  <datalist id={id}>
    {of.map((item) => {
      const [value, text] = typeof item === 'string' ? [item] : item
      return (
        <option key={value} value={value}>
          {text}
        </option>
      )
    })}
  </datalist>
)

type FormProps = {
  /** The action that submits the form. */
  of: { run: () => Promise<unknown>; isBusy: Bound<boolean>; error: Bound<string | undefined> }
  submit?: string
  kind?: 'primary' | 'danger'
  /** Whether the fields and the button are in one row. */
  isRow?: boolean
  /** Whether submitting the form changes data. */
  writes?: boolean
  /** Content next to the button. */
  beside?: ComponentChildren
  children: ComponentChildren
}

interface RowsProps<T> {
  of: Bound<T[]>
  /** The initial value of a new row. */
  emptyRow: T
  addLabel: string
  /** The noun for a row, used in the label of the row's remove button. */
  noun: string
  /** Content next to the button that adds a row. */
  beside?: ComponentChildren
  children: (row: Bound<T>) => ComponentChildren
  /** Content below a row's fields. */
  below?: (row: Bound<T>) => ComponentChildren
}

/** Renders rows of fields that can be added and removed. */
export function Rows<T extends object>({ of, emptyRow, addLabel, noun, beside, children, below }: RowsProps<T>) {
  return (
    <>
      {of.value.map((row, index) => (
        <Fragment key={index}>
          <div class="row">
            {children(bindElement(of, row))}
            <div class="field fit">
              <Button
                kind="quiet"
                label={`Remove ${noun}`}
                onClick={() => (of.value = of.value.filter((other) => other !== row))}
              >
                ✕
              </Button>
            </div>
          </div>
          {below?.(bindElement(of, row))}
        </Fragment>
      ))}
      <div class="row">
        <div class="field fit">
          <Button onClick={() => (of.value = [...of.value, { ...emptyRow }])}>{addLabel}</Button>
        </div>
        {beside}
      </div>
    </>
  )
}

/** Renders a form with its button. Shows an error at its field or, if it doesn't belong to a field, above the button. */
export function Form({ of, submit = 'Save', kind = 'primary', isRow, writes = true, beside, children }: FormProps) {
  const errors = useRef<FormErrors | undefined>(undefined)
  errors.current ??= { paths: new Set(), error: of.error }
  errors.current.error = of.error
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
      <FormErrorsContext.Provider value={errors.current}>
        {isRow ? (
          <div class="row">
            {children}
            <div class="field">{button}</div>
          </div>
        ) : (
          children
        )}
      </FormErrorsContext.Provider>
      <Problem>{findField(errors.current) === undefined ? of.error.value : undefined}</Problem>
      {!isRow && (
        <p class="tools">
          {button}
          {beside}
        </p>
      )}
    </form>
  )
}
