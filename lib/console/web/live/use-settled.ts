import { useEffect, useState } from 'preact/hooks';

/** Returns a value once it has not changed for `delay` ms, so that no request is sent for each keystroke. */
export function useSettled<T>(value: T, delay = 250): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), delay);
    return () => clearTimeout(timer);
  }, [value, delay]);
  return settled;
}
