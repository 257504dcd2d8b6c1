import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { type Loaded, useSignal } from '../data.ts'
import { escaped, exactTime, relativeTime, shown } from '../format.ts'
import { mayWrite } from '../session.ts'
import { texts } from '../texts/frame.ts'

type ButtonProps = {
  onClick?: () => unknown
  kind?: 'primary' | 'danger' | 'quiet'
  type?: 'button' | 'submit'
  disabled?: boolean
  /** Does it change something? Who may only look cannot press it. */
  writes?: boolean
  label?: string
  /** What it is about, where several have the same text. */
  of?: string
  children: ComponentChildren
}

export function Button({
  onClick,
  kind,
  type = 'button',
  disabled = false,
  writes = kind === 'danger',
  of,
  label,
  children,
}: ButtonProps) {
  const isClosed = writes && !mayWrite.value
  const named = of === undefined ? label : `${String(children)}: ${of}`
  return (
    <button
      type={type}
      class={kind}
      disabled={disabled || isClosed}
      title={isClosed ? texts.mayLook : undefined}
      aria-label={named && shown(named)}
      onClick={() => void onClick?.()}
    >
      {children}
    </button>
  )
}

/** Shows a text from outside, such as the name of a key or an error, in a safe form. */
export const Text = ({ of }: { of: string | undefined }) => <>{of === undefined ? '' : shown(of)}</>

/** A time as a distance from now, with the exact one at hand. */
export const Time = ({ at }: { at: string | number }) => (
  <time dateTime={new Date(at).toISOString()} title={exactTime(at)}>
    {relativeTime(at)}
  </time>
)

/** Something that is known by its form and its words, and not by its colour alone. */
export const State = ({ kind, children }: { kind: 'good' | 'warn' | 'bad' | 'off'; children: ComponentChildren }) => (
  <span class={`state ${kind}`}>
    <span aria-hidden="true">{{ good: '●', warn: '◐', bad: '▲', off: '○' }[kind]}</span> {children}
  </span>
)

/** An error, whole. */
export const Problem = ({ children, onRetry }: { children: ComponentChildren; onRetry?: () => void }) => (
  <div class="problem" role="alert">
    <p>{typeof children === 'string' ? escaped(children) : children}</p>
    {onRetry && <Button onClick={onRetry}>{texts.common.retry}</Button>}
  </div>
)

/** What a view shows once it is there. What was there before stays while it is loaded again. */
export function Await<T>({
  of,
  onRetry,
  children,
}: {
  of: Loaded<T>
  onRetry: () => void
  children: (value: T) => ComponentChildren
}) {
  return (
    <>
      {of.error !== undefined && <Problem onRetry={onRetry}>{of.error}</Problem>}
      {of.value !== undefined && children(of.value)}
      {of.value === undefined && of.error === undefined && (
        <p class="loading" role="status">
          {texts.common.loading}
        </p>
      )}
    </>
  )
}

type FieldProps = {
  label: string
  hint?: string | undefined
  error?: string | undefined
  /** Gets the ids of what labels and describes it. */
  children: (ids: { id: string; 'aria-describedby': string | undefined; 'aria-invalid': boolean }) => ComponentChildren
}

/** A labelled field; what is wrong with it stands beside it. */
export function Field({ label, hint, error, children }: FieldProps) {
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

type TextFieldProps = Omit<FieldProps, 'children'> & {
  value: string
  onInput: (value: string) => void
  type?: 'text' | 'password' | 'search'
  required?: boolean
  autocomplete?: 'off' | 'current-password'
  placeholder?: string
  /** The id of a list of suggestions. */
  list?: string
}

export function TextField({
  label,
  hint,
  error,
  value,
  onInput,
  type = 'text',
  autocomplete = 'off',
  ...input
}: TextFieldProps) {
  const attributes = { autocomplete, value, ...input }
  const typed = ({ currentTarget }: { currentTarget: HTMLInputElement }) => onInput(currentTarget.value)
  return (
    <Field label={label} hint={hint} error={error}>
      {(ids) => {
        switch (type) {
          case 'password':
            return <input type="password" {...ids} {...attributes} onInput={typed} />
          case 'search':
            return <input type="search" {...ids} {...attributes} onInput={typed} />
          case 'text':
            return <input type="text" {...ids} {...attributes} onInput={typed} />
        }
      }}
    </Field>
  )
}

type NumberFieldProps = Omit<FieldProps, 'children'> & {
  /** As it is typed; empty for none. */
  value: string
  onInput: (value: string) => void
  min?: number
  step?: number | 'any'
}

export function NumberField({ label, hint, error, value, onInput, min = 0, step = 'any' }: NumberFieldProps) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(ids) => (
        <input
          type="number"
          {...ids}
          min={min}
          step={step}
          value={value}
          onInput={({ currentTarget }) => onInput(currentTarget.value)}
        />
      )}
    </Field>
  )
}

type SelectFieldProps = Omit<FieldProps, 'children'> & {
  value: string
  options: ReadonlyArray<readonly [value: string, text: string]>
  onChange: (value: string) => void
}

export function SelectField({ label, hint, error, value, options, onChange }: SelectFieldProps) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(ids) => (
        <select {...ids} value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
          {options.map(([one, text]) => (
            <option key={one} value={one}>
              {shown(text)}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

/** A dialog that holds the focus, and gives it back. Escape closes it. */
export function Dialog({
  title,
  onClose,
  children,
}: {
  title: string
  onClose: () => void
  children: ComponentChildren
}) {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const opener = document.activeElement
    dialog.current?.showModal()
    return () => {
      if (opener instanceof HTMLElement) opener.focus()
    }
  }, [])
  return (
    <dialog ref={dialog} aria-labelledby={id} onClose={onClose}>
      <header>
        <h2 id={id}>{shown(title)}</h2>
        <Button kind="quiet" onClick={() => dialog.current?.close()}>
          {texts.common.close}
        </Button>
      </header>
      {children}
    </dialog>
  )
}

/**
 * Copies a text, and says so. Browsers let pages of plain http, but for those of this machine, copy nothing: there the text is shown, selected.
 */
export function CopyButton({ text, label = texts.common.copy }: { text: string; label?: string }) {
  const said = useSignal(label)
  const isShown = useSignal(false)
  const field = useRef<HTMLTextAreaElement>(null)
  async function copy() {
    try {
      await navigator.clipboard.writeText(text)
      said.value = texts.common.copied
      setTimeout(() => {
        said.value = label
      }, 2_000)
    } catch {
      isShown.value = true
    }
  }
  useEffect(() => field.current?.select(), [isShown.value, text])
  return (
    <>
      <Button onClick={copy}>
        <span aria-live="polite">{said.value === texts.common.copied ? said.value : label}</span>
      </Button>
      {isShown.value && (
        <Field label={texts.common.selected}>
          {(ids) => <textarea {...ids} ref={field} class="mono" readOnly value={text} />}
        </Field>
      )}
    </>
  )
}
