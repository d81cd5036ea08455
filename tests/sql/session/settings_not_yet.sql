-- Settings that would change answers are refused while they do nothing, except their default values.
SELECT NULL IN (NULL) SETTINGS transform_null_in = 1;
SELECT NULL IN (NULL) SETTINGS transform_null_in = 0;
SELECT sum(number) FROM numbers(0) SETTINGS aggregate_functions_null_for_empty = 1;
SELECT number FROM numbers(3) SETTINGS additional_result_filter = 'number > 1';
SELECT toDateTime(0, 'UTC') SETTINGS date_time_output_format = 'iso';
SELECT toDateTime(0, 'UTC') SETTINGS date_time_output_format = 'simple';
SELECT decimal_check_overflow FROM (SELECT 1 AS decimal_check_overflow) SETTINGS decimal_check_overflow = true;
