import type { ComponentChildren } from 'preact'
import type { Loaded } from '../data.ts'
import { escaped, exactTime, relativeTime, shown } from '../format.ts'
import { mayWrite } from '../session.ts'
import * as texts from '../texts/frame.ts'
import { common } from '../texts/frame.ts'

type ButtonProps = {
  onClick?: () => unknown
  kind?: 'primary' | 'danger' | 'quiet' | undefined
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

/** A text from outside, such as the name of a key or an error, in a safe form. */
export const Text = ({ of = '' }: { of: string | undefined }) => <>{shown(of)}</>

/** What a cell or a fact shows: texts are those of others, and shown in a safe form. */
export const safe = (value: ComponentChildren): ComponentChildren => (typeof value === 'string' ? shown(value) : value)

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

/** An error, whole; nothing where there is none. */
export const Problem = ({ children, onRetry }: { children: string | undefined; onRetry?: () => void }) =>
  children === undefined ? null : (
    <div class="problem" role="alert">
      <p>{escaped(children)}</p>
      {onRetry && <Button onClick={onRetry}>{common.retry}</Button>}
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
      <Problem onRetry={onRetry}>{of.error}</Problem>
      {of.value !== undefined && children(of.value)}
      {of.value === undefined && of.error === undefined && (
        <p class="loading" role="status">
          {common.loading}
        </p>
      )}
    </>
  )
}
