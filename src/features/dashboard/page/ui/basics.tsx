import type { ComponentChildren } from 'preact'
import type { LoadState } from '../page-data.ts'
import { escapeInvisible, formatDateTime, formatRelativeTime, sanitize } from '../page-format.ts'
import { canWrite } from '../session.ts'

type ButtonProps = {
  onClick?: () => unknown
  kind?: 'primary' | 'danger' | 'quiet' | undefined
  type?: 'button' | 'submit'
  disabled?: boolean
  /** Whether the action changes data. If so, it is disabled for visitors with read-only access. */
  writes?: boolean
  label?: string
  /** Distinguishes elements with the same text. */
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
  const isReadOnly = writes && !canWrite.value
  const accessibleLabel = of === undefined ? label : `${String(children)}: ${of}`
  return (
    <button
      type={type}
      class={kind}
      disabled={disabled || isReadOnly}
      title={isReadOnly ? 'Your token is read-only.' : undefined}
      aria-label={accessibleLabel && sanitize(accessibleLabel)}
      onClick={() => void onClick?.()}
    >
      {children}
    </button>
  )
}

/** Shows an untrusted string, such as a key's name or an error. */
export const Text = ({ of = '' }: { of: string | undefined }) => <>{sanitize(of)}</>

/** Makes a cell's or fact's content safe to show. Treats strings as untrusted. */
export const sanitizeNode = (value: ComponentChildren): ComponentChildren =>
  typeof value === 'string' ? sanitize(value) : value

/** Shows a relative time, with the exact time in a tooltip. */
export const Time = ({ time }: { time: string | number }) => (
  <time dateTime={new Date(time).toISOString()} title={formatDateTime(time)}>
    {formatRelativeTime(time)}
  </time>
)

/** Shows a state by shape and text, not only by color. */
export const State = ({ kind, children }: { kind: 'good' | 'warn' | 'bad' | 'off'; children: ComponentChildren }) => (
  <span class={`state ${kind}`}>
    <span aria-hidden="true">{{ good: '●', warn: '◐', bad: '▲', off: '○' }[kind]}</span> {children}
  </span>
)

/** Shows an error in full, if any. */
export const Problem = ({ children, onRetry }: { children: string | undefined; onRetry?: () => void }) =>
  children === undefined ? null : (
    <div class="problem" role="alert">
      <p>{escapeInvisible(children)}</p>
      {onRetry && <Button onClick={onRetry}>Try again</Button>}
    </div>
  )

/** Shows loaded data. While the data reloads, the previous data stays visible. */
export function Await<T>({
  of,
  onRetry,
  children,
}: {
  of: LoadState<T>
  onRetry: () => void
  children: (value: T) => ComponentChildren
}) {
  return (
    <>
      <Problem onRetry={onRetry}>{of.error}</Problem>
      {of.value !== undefined && children(of.value)}
      {of.value === undefined && of.error === undefined && (
        <p class="loading" role="status">
          Loading…
        </p>
      )}
    </>
  )
}
