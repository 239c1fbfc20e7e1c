"""Libraries whose work space is asked for before the work: linear algebra, Fourier transforms, sparse products."""

import warnings

import torch

from simulated import DEVICE, SimulatedTest, main


class AlgebraTest(SimulatedTest):
    def setUp(self):
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()

    def tearDown(self):
        self.assertLess(torch.cuda.max_memory_allocated(), 256 << 20)
        super().tearDown()

    def test_decompositions_of_one_matrix(self):
        for dtype in (torch.float32, torch.float64, torch.complex64):
            matrix = torch.eye(16, dtype=dtype).to(DEVICE)
            for name in ("inv", "cholesky", "qr", "svd", "eigh", "lu_factor", "eigvalsh", "svdvals", "det"):
                with self.subTest(name=name, dtype=dtype):
                    result = getattr(torch.linalg, name)(matrix)
                    first = result if isinstance(result, torch.Tensor) else result[0]
                    self.assertEqual(first.device.type, DEVICE)

    def test_decompositions_of_a_batch(self):
        matrices = torch.eye(16).expand(5, 16, 16).contiguous().to(DEVICE)
        for name in ("inv", "cholesky", "qr", "svd", "eigh"):
            with self.subTest(name=name):
                result = getattr(torch.linalg, name)(matrices)
                first = result if isinstance(result, torch.Tensor) else result[0]
                self.assertEqual(first.shape, (5, 16) if name == "eigh" else (5, 16, 16))

    def test_a_solver_writes_its_status_over_dirty_memory(self):
        # Only the status itself is looked at: the checks of cholesky() and inv() sum it by a kernel, which computes nothing.
        matrix = torch.eye(16).to(DEVICE)
        for name in ("cholesky_ex", "inv_ex", "lu_factor_ex"):
            with self.subTest(name=name):
                torch.full((1 << 20,), 255, dtype=torch.uint8).to(DEVICE)
                self.assertEqual(getattr(torch.linalg, name)(matrix).info.item(), 0)

    def test_solving(self):
        matrix = torch.eye(32).to(DEVICE)
        right = torch.randn(32, 4, device=DEVICE)
        self.assertEqual(torch.linalg.solve(matrix, right).shape, (32, 4))
        self.assertEqual(torch.linalg.solve_triangular(matrix, right, upper=True).shape, (32, 4))
        self.assertEqual(torch.linalg.lstsq(matrix, right).solution.shape, (32, 4))
        self.assertEqual(torch.cholesky_solve(right, matrix).shape, (32, 4))

    def test_products(self):
        matrix = torch.randn(8, 64, 64, device=DEVICE)
        self.assertEqual(torch.bmm(matrix, matrix).shape, (8, 64, 64))
        self.assertEqual(torch.dot(matrix.flatten(), matrix.flatten()).shape, ())
        self.assertEqual(torch.mv(matrix[0], matrix[0, 0]).shape, (64,))
        half = matrix[0].half()
        self.assertEqual(torch.addmm(half[0], half, half).shape, (64, 64))

    def test_fourier_transforms(self):
        self.assertEqual(torch.fft.rfft(torch.randn(8, 64, device=DEVICE)).shape, (8, 33))
        self.assertEqual(torch.fft.irfft(torch.fft.rfft(torch.randn(8, 64, device=DEVICE))).shape, (8, 64))
        self.assertEqual(torch.fft.fft2(torch.randn(8, 16, 16, device=DEVICE)).shape, (8, 16, 16))

    def test_sparse_products(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sparse = torch.eye(16).to_sparse_csr().to(DEVICE)
        self.assertEqual((sparse @ torch.randn(16, 4, device=DEVICE)).shape, (16, 4))
        self.assertEqual((sparse @ torch.randn(16, device=DEVICE)).shape, (16,))

    def test_code_compiled_at_run_time(self):
        code = "template <typename T> T plus_one(T x) { return x + 1; }"
        plus_one = torch.cuda.jiterator._create_jit_fn(code)
        self.assertEqual(plus_one(torch.ones(4, device=DEVICE)).shape, (4,))


main()
