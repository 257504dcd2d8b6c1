import type { RefObject } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { useSignal } from '../page-data.ts'
import { sanitize } from '../page-format.ts'

/** A series of stacked values. */
export interface Part {
  name: string
  /** One value per bar. */
  values: readonly number[]
}

type ChartProps = {
  title: string
  /** One label per bar. */
  labels: readonly string[]
  parts: readonly Part[]
  format: (value: number) => string
}

const CHART_HEIGHT = 220
const LEFT_MARGIN = 64
const BOTTOM_MARGIN = 22
const MAX_PARTS = 6
const CHART_WIDTH = 1_200

/**
 * Renders a stacked bar chart. Arrow keys move a cursor, and screen readers announce the values under it. A hidden table contains the same figures.
 */
export function Chart({ title, labels, parts, format }: ChartProps) {
  const cursor = useSignal<number | undefined>(undefined)
  const id = useId()
  const figureRef = useRef<HTMLElement>(null)
  const width = useWidth(figureRef)
  const totals = labels.map((_, index) => parts.reduce((sum, { values }) => sum + (values[index] ?? 0), 0))
  const maxValue = roundUp(Math.max(...totals, 0))
  const barWidth = (width - LEFT_MARGIN) / Math.max(labels.length, 1)
  const y = (value: number) => (CHART_HEIGHT - BOTTOM_MARGIN) * (1 - value / maxValue)
  const cursorIndex = cursor.value
  const announcement =
    cursorIndex === undefined
      ? 'Hover over the chart or use the arrow keys to see values.'
      : `${labels[cursorIndex]}: ${format(totals[cursorIndex] ?? 0)}`

  return (
    <figure class="figure-box" ref={figureRef}>
      <ul class="bare legend">
        {parts.map(({ name }, index) => (
          <li key={name}>
            <svg width="12" height="12" aria-hidden="true">
              <rect width="12" height="12" class={`series s${(index % MAX_PARTS) + 1}`} />
            </svg>{' '}
            {sanitize(name)}
          </li>
        ))}
      </ul>
      <svg
        class="chart"
        viewBox={`0 0 ${width} ${CHART_HEIGHT}`}
        role="img"
        aria-labelledby={`${id}-title`}
        aria-describedby={`${id}-said`}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys read its values
        tabIndex={0}
        onKeyDown={(event) => {
          const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
          if (step === 0) return
          event.preventDefault()
          cursor.value = Math.min(
            labels.length - 1,
            Math.max(0, (cursorIndex ?? (step > 0 ? -1 : labels.length)) + step),
          )
        }}
        onPointerMove={(event) => {
          const box = event.currentTarget.getBoundingClientRect()
          const index = Math.floor((((event.clientX - box.left) / box.width) * width - LEFT_MARGIN) / barWidth)
          cursor.value = index >= 0 && index < labels.length ? index : undefined
        }}
        onPointerLeave={() => {
          cursor.value = undefined
        }}
      >
        <title id={`${id}-title`}>{title}</title>
        {[0, 0.5, 1].map((fraction) => (
          <g key={fraction}>
            <line class="grid" x1={LEFT_MARGIN} x2={width} y1={y(maxValue * fraction)} y2={y(maxValue * fraction)} />
            <text x={LEFT_MARGIN - 6} y={y(maxValue * fraction) + 4} text-anchor="end">
              {format(maxValue * fraction)}
            </text>
          </g>
        ))}
        {labels.map((_, bar) => {
          let stackedTotal = 0
          return (
            <g key={bar}>
              {parts.map(({ name, values }, index) => {
                const value = values[bar] ?? 0
                const start = stackedTotal
                stackedTotal += value
                return value > 0 ? (
                  <rect
                    key={name}
                    class={`series s${(index % MAX_PARTS) + 1}`}
                    x={LEFT_MARGIN + bar * barWidth + barWidth * 0.1}
                    width={barWidth * 0.8}
                    y={y(stackedTotal)}
                    height={Math.max(0, y(start) - y(stackedTotal))}
                  />
                ) : null
              })}
            </g>
          )
        })}
        {cursorIndex !== undefined && (
          <rect
            class="cursor"
            x={LEFT_MARGIN + cursorIndex * barWidth}
            width={barWidth}
            y={0}
            height={CHART_HEIGHT - BOTTOM_MARGIN}
          />
        )}
        {[0, Math.floor(labels.length / 2), labels.length - 1].map((bar, index) =>
          labels[bar] === undefined || (index > 0 && labels.length < 3) ? null : (
            <text
              key={index}
              x={LEFT_MARGIN + (bar + 0.5) * barWidth}
              y={CHART_HEIGHT - 6}
              text-anchor={index === 0 ? 'start' : index === 2 ? 'end' : 'middle'}
            >
              {labels[bar]}
            </text>
          ),
        )}
      </svg>
      <figcaption id={`${id}-said`} aria-live="polite">
        {announcement}
      </figcaption>
      <HiddenTable title={title} labels={labels} parts={parts} format={format} />
    </figure>
  )
}

function HiddenTable({ title, labels, parts, format }: ChartProps) {
  return (
    <div class="unseen">
      <table>
        <caption>{title}</caption>
        <thead>
          <tr>
            <th scope="col">Time</th>
            {parts.map(({ name }) => (
              <th key={name} scope="col">
                {sanitize(name)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {labels.map((label, bar) => (
            <tr key={bar}>
              <th scope="row">{label}</th>
              {parts.map(({ name, values }) => (
                <td key={name}>{format(values[bar] ?? 0)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** Measures an element whenever its size changes. One unit of the chart is one pixel, so labels don't scale. */
function useWidth(element: RefObject<HTMLElement | null>): number {
  const width = useSignal(CHART_WIDTH)
  useLayoutEffect(() => {
    const measure = () => {
      width.value = element.current?.clientWidth || CHART_WIDTH
    }
    const observer = new ResizeObserver(measure)
    if (element.current) observer.observe(element.current)
    measure()
    return () => observer.disconnect()
  }, [])
  return width.value
}

/** Rounds up to 1, 2, 5, 10, 20, 50, and so on. */
function roundUp(value: number): number {
  if (!(value > 0)) return 1
  const power = 10 ** Math.floor(Math.log10(value))
  return ([1, 2, 5, 10].find((factor) => factor * power >= value) ?? 10) * power
}
