import type { ComponentChildren } from 'preact'
import { useEffect, useId, useLayoutEffect, useRef } from 'preact/hooks'
import { sanitize } from '../page-format.ts'
import { Button, sanitizeNode } from './basics.tsx'

/** Renders a section of a view with a heading and optional content next to it. */
export function Section({
  title,
  beside,
  children,
}: {
  title: string
  beside?: ComponentChildren
  children: ComponentChildren
}) {
  const id = useId()
  return (
    <section aria-labelledby={id}>
      <div class="tools">
        <h2 id={id} class="grow">
          {title}
        </h2>
        {beside}
      </div>
      {children}
    </section>
  )
}

/** Renders a list of names and values. Omits `undefined` values. */
export const Facts = ({ of }: { of: ReadonlyArray<readonly [name: string, value: ComponentChildren]> }) => (
  <dl class="facts">
    {of.map(
      ([name, value]) =>
        value !== undefined && (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{sanitizeNode(value)}</dd>
          </div>
        ),
    )}
  </dl>
)

/** Renders the figures at the top of a view as cards. */
export const Cards = ({ of }: { of: ReadonlyArray<readonly [name: string, value: string, note?: string]> }) => (
  <ul class="bare cards">
    {of.map(([name, value, note]) => (
      <li key={name} class="card">
        <div class="figure">{value}</div>
        <div class="label">{name}</div>
        {note && <div class="label">{note}</div>}
      </li>
    ))}
  </ul>
)

/** The number of open dialogs. There are two while one replaces another. */
let openDialogCount = 0
/** The element that had focus before the first dialog opened. */
let opener: Element | null = null

/** Renders a dialog that traps focus and restores it when it closes. Escape closes it. */
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
  // Open the dialog before the first paint; otherwise, an early Escape would be lost.
  useLayoutEffect(() => {
    if (openDialogCount++ === 0) opener = document.activeElement
    dialog.current?.showModal()
  }, [])
  // Restore focus only after the dialog has closed, because elements behind an open dialog can't have focus.
  useEffect(
    () => () => {
      if (--openDialogCount === 0 && opener instanceof HTMLElement) opener.focus()
    },
    [],
  )
  return (
    <dialog ref={dialog} aria-labelledby={id} onClose={onClose}>
      <header>
        <h2 id={id}>{sanitize(title)}</h2>
        <Button kind="quiet" onClick={() => dialog.current?.close()}>
          Close
        </Button>
      </header>
      {children}
    </dialog>
  )
}
